#include "fit/judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "tracenorm/fit.hpp"

namespace tracenorm {

namespace {

bool is_unknown(const Entries& entries, std::size_t e) { return entries.row[e] < 0 || entries.col[e] < 0; }

Offset count_unknown(const Entries& entries) {
  Offset count = 0;
  for (std::size_t e = 0; e < entries.row.size(); ++e) count += is_unknown(entries, e) ? 1 : 0;
  return count;
}

/// The answer at the entries; zero where their row or column is unknown.
std::vector<Real> sample(const LowRankMatrix& x, const Entries& entries) {
  std::vector<Real> fitted;
  if (count_unknown(entries) == 0) {
    x.sample(entries.row, entries.col, fitted);
    return fitted;
  }
  fitted.assign(entries.row.size(), 0);
  std::vector<Index> row;
  std::vector<Index> col;
  std::vector<std::size_t> place;
  for (std::size_t e = 0; e < fitted.size(); ++e) {
    if (is_unknown(entries, e)) continue;
    row.push_back(entries.row[e]);
    col.push_back(entries.col[e]);
    place.push_back(e);
  }
  std::vector<Real> known;
  x.sample(row, col, known);
  for (std::size_t k = 0; k < place.size(); ++k) fitted[place[k]] = known[k];
  return fitted;
}

/// Bits that are ordered like the scores they are of; zeros are equal.
std::uint32_t order_of(float score) {
  constexpr std::uint32_t sign = std::uint32_t{1} << 31U;
  const auto bits = std::bit_cast<std::uint32_t>(score == 0 ? 0.0F : score);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

/// Ascending; where there are many, digit by digit from the last one on, which takes a fifth of the time of
/// comparisons.
void sort_by_score(std::vector<Scored>& scored) {
  constexpr std::size_t few = 10'000;
  if (sizeof(Real) != sizeof(float) || scored.size() < few) {
    std::sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
    return;
  }
  constexpr unsigned digit = 11;
  constexpr std::size_t values = std::size_t{1} << digit;
  std::vector<Scored> sorted(scored.size());
  for (unsigned shift = 0; shift < 32; shift += digit) {
    const auto digit_of = [&](const Scored& one) {
      return static_cast<std::size_t>(order_of(float(one.score)) >> shift) % values;
    };
    std::vector<std::size_t> place(values + 1);
    for (const Scored& one : scored) ++place[digit_of(one) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (const Scored& one : scored) sorted[place[digit_of(one)]++] = one;
    scored.swap(sorted);
  }
}

/// Root mean square and mean absolute error. The entries are in raw units, `x` is in prepared ones.
HeldOut regression_errors(const LowRankMatrix& x, const Preparation& preparation, const Entries& raw) {
  const std::vector<Real> fitted = sample(x, raw);
  double squares = 0;
  double absolutes = 0;
  for (std::size_t e = 0; e < fitted.size(); ++e) {
    const double predicted = preparation.predict(fitted[e], raw.row[e], raw.col[e]);
    const double error = (predicted - double(raw.value[e])) / preparation.scale;
    squares += error * error;
    absolutes += std::abs(error);
  }
  const auto count = static_cast<double>(raw.size());
  HeldOut result;
  result.entries = raw.size();
  result.rmse_prepared = std::sqrt(squares / count);
  result.mae_prepared = absolutes / count;
  result.rmse = *result.rmse_prepared * preparation.scale;
  result.mae = *result.mae_prepared * preparation.scale;
  return result;
}

/// The area under the ROC curve of scores x against labels: above zero is the positive class.
HeldOut ranking_quality(const LowRankMatrix& x, const Entries& labels) {
  const std::vector<Real> scores = sample(x, labels);
  std::vector<Scored> scored(scores.size());
  for (std::size_t e = 0; e < scores.size(); ++e) {
    scored[e] = {scores[e], labels.value[e] > 0};
  }
  HeldOut result;
  result.entries = labels.size();
  result.auc = area_under_curve(scored);
  return result;
}

}  // namespace

HeldOut judge(const LowRankMatrix& x, const Loss& loss, const Preparation& preparation, const Entries& raw) {
  HeldOut result = wants_labels(loss) ? ranking_quality(x, raw) : regression_errors(x, preparation, raw);
  result.unknown = count_unknown(raw);
  return result;
}

double area_under_curve(std::vector<Scored>& scored) {
  sort_by_score(scored);
  double positives = 0;
  double rank_sum = 0;  // of the positives, ranks counted from one
  for (std::size_t first = 0; first < scored.size();) {
    std::size_t last = first;
    double positives_here = 0;
    while (last < scored.size() && scored[last].score == scored[first].score) {
      positives_here += scored[last].positive ? 1 : 0;
      ++last;
    }
    if (last == first) return std::numeric_limits<double>::quiet_NaN();  // a score that is not a number
    const double midrank = (static_cast<double>(first) + 1 + static_cast<double>(last)) / 2;
    rank_sum += midrank * positives_here;
    positives += positives_here;
    first = last;
  }
  const double negatives = static_cast<double>(scored.size()) - positives;
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

double average_precision(const std::vector<Scored>& sorted) {
  double sum = 0;
  double positives = 0;
  double seen = 0;
  double here = 0;  // positives among equal scores
  for (std::size_t e = sorted.size(); e-- > 0;) {
    here += sorted[e].positive ? 1 : 0;
    seen += 1;
    if (e > 0 && sorted[e - 1].score == sorted[e].score) continue;
    positives += here;
    sum += here * positives / seen;
    here = 0;
  }
  return positives > 0 ? sum / positives : std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::pair<double, double>> roc_curve(const std::vector<Scored>& sorted, std::size_t points) {
  double positives = 0;
  for (const Scored& one : sorted) positives += one.positive ? 1 : 0;
  const double negatives = static_cast<double>(sorted.size()) - positives;
  if (positives == 0 || negatives == 0) return {};
  std::vector<std::pair<double, double>> curve{{0.0, 0.0}};
  double false_ones = 0;
  double true_ones = 0;
  for (std::size_t e = sorted.size(); e-- > 0;) {
    (sorted[e].positive ? true_ones : false_ones) += 1;
    if (e > 0 && sorted[e - 1].score == sorted[e].score) continue;  // equal scores are on the same side
    const std::pair<double, double> here{false_ones / negatives, true_ones / positives};
    const double moved = here.first - curve.back().first + here.second - curve.back().second;
    if (e == 0 || moved * static_cast<double>(points) >= 2) curve.push_back(here);
  }
  return curve;
}

}  // namespace tracenorm
