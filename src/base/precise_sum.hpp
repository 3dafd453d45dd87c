// Sums whose rounding does not grow with the number of terms.
#pragma once

#include <cmath>

namespace tracenorm {

/// Adds numbers with a running correction (Neumaier). With u the unit roundoff and n far below 1/u, the result is off
/// by at most 2u |sum| + 2nu^2 sum|terms|: two units in the last place for any number of terms that fits into a memory.
class PreciseSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    correction_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
    magnitude_ += std::abs(term);
  }
  [[nodiscard]] double value() const { return std::isfinite(sum_) ? sum_ + correction_ : sum_; }
  /// The sum of the absolute values: what errors of the terms are relative to.
  [[nodiscard]] double magnitude() const { return magnitude_; }

 private:
  double sum_ = 0;
  double correction_ = 0;
  double magnitude_ = 0;
};

}  // namespace tracenorm
