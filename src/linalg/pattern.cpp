#include <fmt/format.h>

#include <utility>

#include "tracenorm/error.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm {

SparsePattern::SparsePattern(Index rows, Index cols, Array<Offset> begin, Columns col)
    : rows_(rows), cols_(cols), begin_(std::move(begin)), col_(std::move(col)) {
  const auto fail = [](const std::string& message) { throw Error(ErrorCode::input, "sparse pattern: " + message); };
  if (rows < 0 || cols < 0) fail(fmt::format("{} x {} is not a size", rows, cols));
  if (begin_.size() != static_cast<std::size_t>(rows) + 1) {
    fail(fmt::format("{} row offsets for {} rows; there must be {}", begin_.size(), rows, Offset(rows) + 1));
  }
  if (begin_.front() != 0 || begin_.back() != entries()) {
    fail(fmt::format("row offsets run from {} to {}; they must run from 0 to the {} entries", begin_.front(),
                     begin_.back(), entries()));
  }
  for (Index i = 0; i < rows; ++i) {
    const Offset first = begin_[static_cast<std::size_t>(i)];
    const Offset last = begin_[static_cast<std::size_t>(i) + 1];
    if (first > last || last > entries()) fail(fmt::format("row {}: offsets {} to {}", i, first, last));
    for (Offset e = first; e < last; ++e) {
      const Index j = col_[e];
      if (j < 0 || j >= cols) fail(fmt::format("row {}: column {} is not in 0..{}", i, j, cols - 1));
      if (e > first && col_[e - 1] == j) {
        fail(fmt::format("row {}, column {} is given twice; give each entry once", i, j));
      }
      if (e > first && col_[e - 1] > j) {
        fail(fmt::format("row {}: columns must ascend, but {} is followed by {}", i, col_[e - 1], j));
      }
    }
  }
}

SparsePattern SparsePattern::unchecked(Index rows, Index cols, Array<Offset> begin, Columns col) {
  SparsePattern pattern;
  pattern.rows_ = rows;
  pattern.cols_ = cols;
  pattern.begin_ = std::move(begin);
  pattern.col_ = std::move(col);
  return pattern;
}

Offset SparsePattern::find(Index row, Index col) const {
  Offset first = begin()[row];
  const Offset end = begin()[row + 1];
  for (Offset last = end; first < last;) {
    const Offset middle = first + (last - first) / 2;
    col_[middle] < col ? first = middle + 1 : last = middle;
  }
  return first < end && col_[first] == col ? first : -1;
}

}  // namespace tracenorm
