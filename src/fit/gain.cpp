#include "fit/gain.hpp"

#include <cmath>

namespace tracenorm {

namespace {

/// Outliers among the held-out entries must not choose.
constexpr losses::Huber kScore{1.0};

/// Where to look. Below 1 the radius is too large, which another radius mends better.
constexpr double kLeastGain = 1;
constexpr double kMostGain = 3;

/// A difference this many times as large as its standard error is no chance.
constexpr double kSure = 2;

}  // namespace

Refit find_gain(std::span<const Real> answer, std::span<const double> base, std::span<const Real> value) {
  const auto loss = [&](double gain, std::size_t e) {
    return kScore.value(gain * double(answer[e]) + base[e], double(value[e]));
  };
  const auto count = static_cast<double>(answer.size());
  const auto score = [&](double gain) {
    double sum = 0;
    for (std::size_t e = 0; e < answer.size(); ++e) sum += loss(gain, e);
    return sum / count;
  };
  // A convex function of one number: its minimum by thirds.
  double low = kLeastGain;
  double high = kMostGain;
  while (high - low > 2e-3) {
    const double third = (high - low) / 3;
    (score(low + third) <= score(high - third) ? high : low) =
        score(low + third) <= score(high - third) ? high - third : low + third;
  }
  Refit refit{.entries = static_cast<Offset>(answer.size()), .gain = (low + high) / 2};
  refit.score = score(refit.gain);
  refit.score_of_1 = score(1);
  const double mean = refit.score_of_1 - refit.score;
  double squares = 0;
  for (std::size_t e = 0; e < answer.size(); ++e) {
    const double difference = loss(1, e) - loss(refit.gain, e) - mean;
    squares += difference * difference;
  }
  refit.taken = mean > kSure * std::sqrt(squares) / count;
  return refit;
}

}  // namespace tracenorm
