#include "fit/spread.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/side_sums.hpp"

namespace tracenorm {

namespace {

/// A row's own residuals count as much as the mean of all once it has this many.
constexpr double kEvenSay = 10;

/// Bins of rows by how many entries they have, each with about as many held-out entries, and at least so many.
constexpr std::size_t kMostBins = 10;
constexpr std::size_t kFewestInBin = 200;

/// More scores than this say no more.
constexpr std::size_t kMostScores = 20000;

/// Means drawn to `prior`.
std::vector<double> means(const std::vector<SideSum>& sums, double prior) {
  std::vector<double> mean(sums.size());
  for (std::size_t i = 0; i < mean.size(); ++i)
    mean[i] = (kEvenSay * prior + sums[i].sum) / (kEvenSay + sums[i].weight);
  return mean;
}

std::size_t bin_of(const WidthCorrection& correction, Offset count) {
  const auto bin = std::lower_bound(correction.most.begin(), correction.most.end(), count);
  return std::min(static_cast<std::size_t>(bin - correction.most.begin()), correction.factor.size() - 1);
}

}  // namespace

Spread widths(const SparseObservations& data, const std::vector<Real>& errors, const Execution& execution) {
  const double sum =
      total(exact_sum(execution, errors.size(), [&](std::size_t e) { return double(errors[e]); }), ranks_of(data));
  const double mean = all_entries(data) == 0 ? 0.0 : sum / static_cast<double>(all_entries(data));
  Spread spread;
  spread.unknown = mean > 0 ? mean : 1.0;  // a perfect fit: errors are scores
  spread.col.assign(static_cast<std::size_t>(data.pattern.cols()), 1.0);
  visit_rows(data, [&]<class Column>(const EntriesByRow<Column>& entries) {
    SideSums<Column> sides(entries, execution);
    std::vector<SideSum> sums;
    const auto error = [&](std::size_t e, const std::vector<double>& other, Index k) {
      return SideSum{double(errors[e]) / other[static_cast<std::size_t>(k)], 1};
    };
    for (int round = 0; round < 2; ++round) {
      sides.by_rows([&](Index, Index j, std::size_t e) { return error(e, spread.col, j); }, sums);
      spread.row = means(sums, spread.unknown);
      sides.by_cols([&](Index i, Index, std::size_t e) { return error(e, spread.row, i); }, sums);
      spread.col = means(sums, 1.0);
    }
  });
  return spread;
}

WidthCorrection correction(const Spread& widths, const Judged& held_out, const std::vector<Offset>& row_counts) {
  const Entries& entries = held_out.entries;
  std::vector<std::size_t> order(entries.row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = [&](std::size_t e) { return row_counts[static_cast<std::size_t>(entries.row[e])]; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return count(a) < count(b); });
  const std::size_t bins = std::clamp<std::size_t>(order.size() / kFewestInBin, 1, kMostBins);
  WidthCorrection result;
  std::size_t first = 0;
  for (std::size_t bin = 0; bin < bins && first < order.size(); ++bin) {
    std::size_t last = std::max(first + 1, order.size() * (bin + 1) / bins);
    while (last < order.size() && count(order[last]) == count(order[last - 1])) ++last;  // a count has one bin
    double sum = 0;
    for (std::size_t k = first; k < last; ++k) {
      const std::size_t e = order[k];
      sum += std::abs(double(entries.value[e]) - held_out.fitted[e]) / widths.width(entries.row[e], entries.col[e]);
    }
    result.most.push_back(count(order[last - 1]));
    result.factor.push_back(sum > 0 ? sum / static_cast<double>(last - first) : 1.0);
    first = last;
  }
  return result;
}

void correct(Spread& widths, const WidthCorrection& correction, const std::vector<Offset>& row_counts) {
  if (correction.factor.empty()) return;
  for (std::size_t i = 0; i < widths.row.size(); ++i)
    widths.row[i] *= correction.factor[bin_of(correction, row_counts[i])];
  widths.unknown *= correction.factor.front();
}

std::vector<double> scores(const Spread& widths, const Judged& held_out) {
  const Entries& entries = held_out.entries;
  std::vector<double> all(entries.row.size());
  for (std::size_t e = 0; e < all.size(); ++e) {
    all[e] = std::abs(double(entries.value[e]) - held_out.fitted[e]) / widths.width(entries.row[e], entries.col[e]);
  }
  std::sort(all.begin(), all.end());
  if (all.size() <= kMostScores) return all;
  std::vector<double> kept(kMostScores);  // quantiles of them, rounded up
  for (std::size_t k = 0; k < kMostScores; ++k) kept[k] = all[((k + 1) * all.size() - 1) / kMostScores];
  return kept;
}

}  // namespace tracenorm
