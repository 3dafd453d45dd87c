// Riemannian conjugate gradients on f_d, with the coefficient of Hestenes and Stiefel and an adaptive line search.
#pragma once

#include "base/exchange.hpp"
#include "methods/baselines/smoothed_absolute.hpp"

namespace tracenorm::baselines {

class ConjugateGradient {
 public:
  ConjugateGradient(SmoothedAbsolute& cost, double d, FixedRankPoint start);

  [[nodiscard]] const FixedRankPoint& point() const { return x_; }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] double mean_error() const { return mean_error_; }

  /// Searches along the direction, or along the gradient if that fails. Returns the length of the step that it found,
  /// or 0: then nothing lower is in reach, and there is nothing to advance to.
  double look();
  /// Moves to what `look` found and turns the direction.
  void advance();

  /// The direction; the point is the start of another one.
  void exchange(Exchange state);

 private:
  double armijo();

  SmoothedAbsolute& cost_;
  double d_;
  FixedRankPoint x_;
  double value_;
  double mean_error_;
  Tangent gradient_;
  Tangent direction_;
  double next_trial_ = 0;  // first step of the next search; 0 before the first one
  FixedRankPoint found_;
  double found_value_ = 0;
};

}  // namespace tracenorm::baselines
