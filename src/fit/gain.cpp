#include "fit/gain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/block_sums.hpp"
#include "fit/sampling.hpp"

namespace tracenorm {

namespace {

/// Outliers among the held-out entries must not choose.
constexpr losses::Huber kScore{1.0};

/// Where to look. Below 1 the radius is too large, which another radius mends better.
constexpr double kLeastGain = 1;
constexpr double kMostGain = 4;

/// A difference this many times as large as its standard error is no chance.
constexpr double kSure = 2;

constexpr int kMostRounds = 60;
constexpr double kSettled = 1e-4;

using Gains = std::array<double, 2>;  // of large, of small

class Scoring {
 public:
  Scoring(const SplitAnswer& answer, std::span<const double> base, std::span<const Real> value,
          const Execution& execution)
      : answer_(answer), base_(base), value_(value), execution_(execution) {}

  [[nodiscard]] double score(const Gains& gains) const {
    const auto sums = sum<1>([&](std::size_t e, Sums<1>& sum) { sum.of[0] += loss(gains, e); });
    return sums.of[0] / count();
  }
  /// Whether the first gains score lower, by more than chance.
  [[nodiscard]] bool surely_better(const Gains& better, const Gains& other) const {
    const auto [sums] = sum<2>([&](std::size_t e, Sums<2>& sum) {
      const double difference = loss(other, e) - loss(better, e);
      sum.of[0] += difference;
      sum.of[1] += difference * difference;
    });
    const double mean = sums[0] / count();
    return mean > kSure * std::sqrt(std::max(0.0, sums[1] - sums[0] * mean)) / count();
  }
  /// Rounds of least squares, in which residuals beyond the loss's corner weigh as much as one there; each lowers the
  /// score. `one`: both gains are the same.
  [[nodiscard]] Gains best(bool one) const {
    Gains gains{1, 1};
    for (int round = 0; round < kMostRounds; ++round) {
      const Gains before = gains;
      for (std::size_t part = 0; part < (one ? 1U : 2U); ++part) {
        const auto sums = sum<2>([&](std::size_t e, Sums<2>& sum) {
          const double rest = double(value_[e]) - predicted(gains, e);
          const double weight = std::abs(rest) > kScore.delta ? kScore.delta / std::abs(rest) : 1.0;
          const double feature = one ? large(e) + small(e) : part == 0 ? large(e) : small(e);
          sum.of[0] += weight * feature * rest;
          sum.of[1] += weight * feature * feature;
        });
        const auto [inner, square] = sums.of;
        if (square > 0) gains[part] = std::clamp(gains[part] + inner / square, kLeastGain, kMostGain);
        if (one) gains[1] = gains[0];
      }
      if (std::abs(gains[0] - before[0]) + std::abs(gains[1] - before[1]) < kSettled) break;
    }
    return gains;
  }

 private:
  template <std::size_t parts, class Work>
  [[nodiscard]] Sums<parts> sum(Work&& work) const {
    return sum_over<parts>(execution_, value_.size(), work);
  }
  [[nodiscard]] double count() const { return static_cast<double>(value_.size()); }
  [[nodiscard]] double large(std::size_t e) const { return double(answer_.large[e]); }
  [[nodiscard]] double small(std::size_t e) const { return double(answer_.small[e]); }
  [[nodiscard]] double predicted(const Gains& gains, std::size_t e) const {
    return gains[0] * large(e) + gains[1] * small(e) + base_[e];
  }
  [[nodiscard]] double loss(const Gains& gains, std::size_t e) const {
    return kScore.value(predicted(gains, e), double(value_[e]));
  }

  const SplitAnswer& answer_;
  std::span<const double> base_;
  std::span<const Real> value_;
  const Execution& execution_;
};

}  // namespace

SplitAnswer split_answer(const LowRankMatrix& x, const Entries& entries, const Execution& execution) {
  std::array<std::vector<double>, 2> values;
  for (const double s : x.values()) {
    values[0].push_back(s * s / x.values()[0]);
    values[1].push_back(s * (1 - s / x.values()[0]));
  }
  std::array<std::vector<Real>, 2> parts;
  sample(x, values, entries, execution, parts);
  return {std::move(parts[0]), std::move(parts[1])};
}

Refit find_gain(const SplitAnswer& answer, std::span<const double> base, std::span<const Real> value,
                const Execution& execution) {
  const Scoring scoring(answer, base, value, execution);
  Gains gains = scoring.best(true);
  if (const Gains two = scoring.best(false); scoring.surely_better(two, gains)) gains = two;
  Refit refit{static_cast<Offset>(value.size()), gains[0], gains[1], scoring.score(gains), scoring.score({1, 1})};
  refit.taken = scoring.surely_better(gains, {1, 1});
  return refit;
}

std::vector<double> gained(const LowRankMatrix& x, const Refit& refit) {
  std::vector<double> values(x.values().begin(), x.values().end());
  for (double& s : values) s *= refit.small_gain + (refit.gain - refit.small_gain) * s / x.values()[0];
  return values;
}

}  // namespace tracenorm
