#include "distributed/share.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/topic.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::distributed {

namespace {

Offset entries_before(const Observations& observations, Index row) {
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) return sparse->pattern.begin()[row];
  return static_cast<Offset>(row) * cols(observations);
}

}  // namespace

Share make_share(const Observations& observations, const Ranks& ranks) {
  const Index all = rows(observations);
  const Index size = ranks.size();
  if (all < size) {
    throw TopicError(ErrorCode::usage, Topic::ranks,
                     fmt::format("{} ranks share the rows of the matrix, which has {}; start at most {} "
                                 "ranks, or transpose it",
                                 size, all, all));
  }
  Share share{{0}, ranks.rank()};
  const Offset entries = entries_before(observations, all);
  for (Index r = 1; r <= size; ++r) {
    const Offset wanted = entries * r / size;
    Index row = share.cuts.back() + 1;  // everybody has one, and leaves one for each of the others
    while (row < all - (size - r) && entries_before(observations, row) < wanted) ++row;
    if (r == size) row = all;
    share.cuts.push_back(row);
  }
  return share;
}

Observations rows_of(const Observations& observations, Index first, Index last) {
  const Offset from = entries_before(observations, first);
  const Offset to = entries_before(observations, last);
  if (const auto* dense = std::get_if<DenseObservations>(&observations)) {
    return DenseObservations{last - first, dense->cols, dense->value.slice(from, to), dense->weight.slice(from, to)};
  }
  const auto& sparse = std::get<SparseObservations>(observations);
  std::vector<Offset> begin(sparse.pattern.begin() + first, sparse.pattern.begin() + last + 1);
  for (Offset& place : begin) place -= from;
  SparsePattern pattern = SparsePattern::unchecked(last - first, sparse.pattern.cols(), std::move(begin),
                                                   sparse.pattern.col().slice(from, to));
  return SparseObservations{std::move(pattern), sparse.value.slice(from, to), sparse.weight.slice(from, to)};
}

}  // namespace tracenorm::distributed
