#include "fit/spread.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tracenorm {

namespace {

/// A row's own residuals count as much as the mean of all once it has this many.
constexpr double kEvenSay = 10;

/// Bins of rows by how many entries they have, each with about as many held-out entries, and at least so many.
constexpr std::size_t kMostBins = 10;
constexpr std::size_t kFewestInBin = 200;

/// More scores than this say no more.
constexpr std::size_t kMostScores = 20000;

/// Means of |residual| / other side's width, drawn to `prior`.
std::vector<double> means(const Judged& fitted, const std::vector<Index>& side, const std::vector<Index>& other_side,
                          const std::vector<double>& other, std::size_t count, double prior) {
  std::vector<double> sum(count, kEvenSay * prior);
  std::vector<double> say(count, kEvenSay);
  for (std::size_t e = 0; e < side.size(); ++e) {
    const double error = std::abs(double(fitted.entries.value[e]) - fitted.fitted[e]);
    sum[static_cast<std::size_t>(side[e])] += error / other[static_cast<std::size_t>(other_side[e])];
    say[static_cast<std::size_t>(side[e])] += 1;
  }
  for (std::size_t i = 0; i < count; ++i) sum[i] /= say[i];
  return sum;
}

std::size_t bin_of(const WidthCorrection& correction, Offset count) {
  const auto bin = std::lower_bound(correction.most.begin(), correction.most.end(), count);
  return std::min(static_cast<std::size_t>(bin - correction.most.begin()), correction.factor.size() - 1);
}

}  // namespace

Spread widths(const Judged& fitted, Index rows, Index cols) {
  double sum = 0;
  for (std::size_t e = 0; e < fitted.fitted.size(); ++e) {
    sum += std::abs(double(fitted.entries.value[e]) - fitted.fitted[e]);
  }
  const double mean = fitted.fitted.empty() ? 0.0 : sum / static_cast<double>(fitted.fitted.size());
  Spread spread;
  spread.unknown = mean > 0 ? mean : 1.0;  // a perfect fit: errors are scores
  spread.col.assign(static_cast<std::size_t>(cols), 1.0);
  const Entries& entries = fitted.entries;
  for (int round = 0; round < 2; ++round) {
    spread.row = means(fitted, entries.row, entries.col, spread.col, static_cast<std::size_t>(rows), spread.unknown);
    spread.col = means(fitted, entries.col, entries.row, spread.row, static_cast<std::size_t>(cols), 1.0);
  }
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
