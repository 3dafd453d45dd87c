#include "verify/observed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tracenorm::rigorous {

namespace {

/// Entries by row and column: values are found by a walk.
class Sorted {
 public:
  explicit Sorted(const GivenData& data)
      : begin_(static_cast<std::size_t>(data.rows) + 1, 0), order_(data.entries.row.size()), data_(data) {
    const Entries& entries = data.entries;
    for (const Index row : entries.row) ++begin_[static_cast<std::size_t>(row) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t e = 0; e < order_.size(); ++e) order_[next[static_cast<std::size_t>(entries.row[e])]++] = e;
    for (Index i = 0; i < data.rows; ++i) {
      const auto by_column = [&](std::size_t a, std::size_t b) { return entries.col[a] < entries.col[b]; };
      const auto first = order_.begin() + static_cast<std::ptrdiff_t>(begin_[static_cast<std::size_t>(i)]);
      const auto last = order_.begin() + static_cast<std::ptrdiff_t>(begin_[static_cast<std::size_t>(i) + 1]);
      if (!std::is_sorted(first, last, by_column)) std::sort(first, last, by_column);
    }
  }

  [[nodiscard]] std::size_t row_begin(Index row) const { return begin_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] std::size_t row_end(Index row) const { return begin_[static_cast<std::size_t>(row) + 1]; }
  [[nodiscard]] std::size_t entry(std::size_t at) const { return order_[at]; }
  [[nodiscard]] Index col(std::size_t at) const { return data_.entries.col[order_[at]]; }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::size_t> order_;
  const GivenData& data_;
};

double offset_at(const std::vector<double>& offsets, Index index) {
  return offsets.empty() ? 0.0 : offsets[static_cast<std::size_t>(index)];
}

/// The change of units as it is defined: in double, in this order, rounded to Real at the end.
Real prepared(const Preparation& preparation, Real raw, Index row, Index col) {
  if (preparation.kind == Preparation::Kind::none) return raw;
  const double base =
      (preparation.offset + offset_at(preparation.row_offset, row)) + offset_at(preparation.col_offset, col);
  return static_cast<Real>((static_cast<double>(raw) - base) / preparation.scale);
}

bool in_range(const Entries& entries, Index rows, Index cols) {
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    if (entries.row[e] < 0 || entries.row[e] >= rows || entries.col[e] < 0 || entries.col[e] >= cols) return false;
  }
  return true;
}

bool equally_long(const Entries& entries) {
  return entries.col.size() == entries.row.size() && entries.value.size() == entries.row.size();
}

/// Why the data cannot be those of the claim, before any of them is looked at; empty: they may be.
std::string misfit(const Claim& claim, const GivenData& data) {
  const SparsePattern& pattern = claim.observed;
  if (pattern.rows() != data.rows || pattern.cols() != data.cols) {
    return fmt::format("the data are {} x {}, the claim is about {} x {}", data.rows, data.cols, pattern.rows(),
                       pattern.cols());
  }
  for (const Entries* entries : {&data.entries, &claim.replaced}) {
    if (!equally_long(*entries)) return "rows, columns and values are not equally many";
    if (!in_range(*entries, data.rows, data.cols)) return "an entry lies outside of the matrix";
  }
  if (claim.weighted != !data.weight.empty()) {
    return claim.weighted ? "the claim is about weighted entries, the data have no weights"
                          : "the data have weights, the claim is about entries without";
  }
  if (!data.weight.empty() && data.weight.size() != data.entries.row.size())
    return "entries and weights differ in number";
  return {};
}

std::string look_up(const Claim& claim, const GivenData& data, Observed& observed) {
  const SparsePattern& pattern = claim.observed;
  const Sorted stored(data);
  observed.value.reserve(static_cast<std::size_t>(pattern.entries()));
  observed.left_out = data.entries.size();
  for (Index i = 0; i < data.rows; ++i) {
    std::size_t at = stored.row_begin(i);
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      const Index j = pattern.col()[e];
      while (at < stored.row_end(i) && stored.col(at) < j) ++at;
      if (at < stored.row_end(i) && stored.col(at) == j) {
        const std::size_t entry = stored.entry(at++);
        --observed.left_out;
        observed.value.push_back(data.entries.value[entry]);
        if (claim.weighted) observed.weight.push_back(data.weight[entry]);
      } else if (data.unstored && !claim.weighted) {
        observed.value.push_back(*data.unstored);
      } else {
        return fmt::format("row {}, column {} (from 0) is not in the data", i, j);
      }
    }
  }
  return {};
}

/// Puts the values in that the run put in.
std::string replace(const Claim& claim, Observed& observed) {
  const SparsePattern& pattern = claim.observed;
  for (std::size_t r = 0; r < claim.replaced.row.size(); ++r) {
    const Index i = claim.replaced.row[r];
    const Index j = claim.replaced.col[r];
    Offset first = pattern.begin()[i];
    const Offset end = pattern.begin()[i + 1];
    for (Offset last = end; first < last;) {  // halves of the row, whose columns ascend
      const Offset middle = first + (last - first) / 2;
      if (pattern.col()[middle] < j) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    if (first == end || pattern.col()[first] != j) {
      return fmt::format("row {}, column {} (from 0) is replaced but not observed", i, j);
    }
    observed.value[static_cast<std::size_t>(first)] = claim.replaced.value[r];
  }
  return {};
}

std::string prepare(const Claim& claim, Observed& observed) {
  const SparsePattern& pattern = claim.observed;
  const bool labels =
      std::holds_alternative<losses::Hinge>(claim.loss) || std::holds_alternative<losses::Logistic>(claim.loss);
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      const Index j = pattern.col()[e];
      Real& value = observed.value[static_cast<std::size_t>(e)];
      value = prepared(claim.preparation, value, i, j);
      const double weight = observed.weight_of(e);
      if (!std::isfinite(value)) return fmt::format("row {}, column {} (from 0): the value is {}", i, j, value);
      if (!(weight > 0 && std::isfinite(weight))) {
        return fmt::format("row {}, column {} (from 0): the weight is {}; it must be above 0", i, j, weight);
      }
      if (labels && value != Real(1) && value != Real(-1)) {
        return fmt::format("row {}, column {} (from 0): the value is {}; a label is -1 or +1", i, j, value);
      }
    }
  }
  return {};
}

}  // namespace

Observed observe(const Claim& claim, const GivenData& data) {
  Observed observed;
  observed.problem = misfit(claim, data);
  if (observed.problem.empty()) observed.problem = look_up(claim, data, observed);
  if (observed.problem.empty()) observed.problem = replace(claim, observed);
  if (observed.problem.empty()) observed.problem = prepare(claim, observed);
  return observed;
}

}  // namespace tracenorm::rigorous
