#include "fit/gain.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tracenorm/model.hpp"

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
  Scoring(const SplitAnswer& answer, std::span<const double> base, std::span<const Real> value)
      : answer_(answer), base_(base), value_(value) {}

  [[nodiscard]] double score(const Gains& gains) const {
    double sum = 0;
    for (std::size_t e = 0; e < value_.size(); ++e) sum += loss(gains, e);
    return sum / count();
  }
  /// Whether the first gains score lower, by more than chance.
  [[nodiscard]] bool surely_better(const Gains& better, const Gains& other) const {
    double sum = 0;
    double squares = 0;
    for (std::size_t e = 0; e < value_.size(); ++e) {
      const double difference = loss(other, e) - loss(better, e);
      sum += difference;
      squares += difference * difference;
    }
    const double mean = sum / count();
    return mean > kSure * std::sqrt(std::max(0.0, squares - sum * mean)) / count();
  }
  /// Rounds of least squares, in which residuals beyond the loss's corner weigh as much as one there; each lowers the
  /// score. `one`: both gains are the same.
  [[nodiscard]] Gains best(bool one) const {
    Gains gains{1, 1};
    for (int round = 0; round < kMostRounds; ++round) {
      const Gains before = gains;
      for (std::size_t part = 0; part < (one ? 1U : 2U); ++part) {
        double inner = 0;
        double square = 0;
        for (std::size_t e = 0; e < value_.size(); ++e) {
          const double rest = double(value_[e]) - predicted(gains, e);
          const double weight = std::abs(rest) > kScore.delta ? kScore.delta / std::abs(rest) : 1.0;
          const double feature = one ? large(e) + small(e) : part == 0 ? large(e) : small(e);
          inner += weight * feature * rest;
          square += weight * feature * feature;
        }
        if (square > 0) gains[part] = std::clamp(gains[part] + inner / square, kLeastGain, kMostGain);
        if (one) gains[1] = gains[0];
      }
      if (std::abs(gains[0] - before[0]) + std::abs(gains[1] - before[1]) < kSettled) break;
    }
    return gains;
  }

 private:
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
};

}  // namespace

SplitAnswer split_answer(const LowRankMatrix& x, const Entries& entries, int threads) {
  SplitAnswer answer;
  std::vector<double> small(x.values().begin(), x.values().end());
  for (double& s : small) s *= 1 - s / x.values()[0];
  x.sample(entries.row, entries.col, answer.large, threads);
  with_values(x, small).sample(entries.row, entries.col, answer.small, threads);
  for (std::size_t e = 0; e < answer.large.size(); ++e) answer.large[e] -= answer.small[e];
  return answer;
}

Refit find_gain(const SplitAnswer& answer, std::span<const double> base, std::span<const Real> value) {
  const Scoring scoring(answer, base, value);
  Gains gains = scoring.best(true);
  if (const Gains two = scoring.best(false); scoring.surely_better(two, gains)) gains = two;
  Refit refit{static_cast<Offset>(value.size()), gains[0], gains[1], scoring.score(gains), scoring.score({1, 1})};
  refit.taken = scoring.surely_better(gains, {1, 1});
  return refit;
}

LowRankMatrix gained(const LowRankMatrix& x, const Refit& refit) {
  std::vector<double> values(x.values().begin(), x.values().end());
  for (double& s : values) s *= refit.small_gain + (refit.gain - refit.small_gain) * s / x.values()[0];
  return with_values(x, values);
}

}  // namespace tracenorm
