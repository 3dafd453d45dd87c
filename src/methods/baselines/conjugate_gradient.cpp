#include "methods/baselines/conjugate_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tracenorm::baselines {

ConjugateGradient::ConjugateGradient(SmoothedAbsolute& cost, double d, FixedRankPoint start)
    : cost_(cost),
      d_(d),
      x_(std::move(start)),
      value_(cost.value(x_, d)),
      mean_error_(cost.mean_error()),
      gradient_(cost.gradient(x_)),
      direction_(scaled(-1, gradient_)) {}

/// Halves the step until f(R(t direction)) <= f + c t <gradient, direction>. The first trial remembers the last search:
/// twice its step, unless it took exactly two evaluations and so came out right.
double ConjugateGradient::armijo() {
  constexpr double sufficient = 0.5;
  constexpr int most_evaluations = 10;
  const double slope = inner(gradient_, direction_);
  const double length = std::sqrt(inner(direction_, direction_));
  double t = next_trial_ > 0 ? next_trial_ : 1 / length;
  int evaluations = 0;
  while (true) {
    found_ = retract(x_, direction_, t);
    found_value_ = cost_.value(found_, d_);
    ++evaluations;
    if (found_value_ <= value_ + sufficient * t * slope || evaluations >= most_evaluations) break;
    t /= 2;
  }
  if (!(found_value_ < value_)) return 0;
  next_trial_ = evaluations == 2 ? t : 2 * t;
  return t * length;
}

double ConjugateGradient::look() {
  constexpr double stationary = 1e-8;  // the gradient's norm is of the order of 1 / sqrt(entries)
  if (!(std::sqrt(inner(gradient_, gradient_)) > stationary)) return 0;
  if (const double step = armijo(); step > 0) return step;
  direction_ = scaled(-1, gradient_);
  next_trial_ = 0;
  return armijo();
}

void ConjugateGradient::advance() {
  const Tangent old_gradient = transport(x_, gradient_, found_);
  const Tangent old_direction = transport(x_, direction_, found_);
  x_ = std::move(found_);
  value_ = found_value_;
  mean_error_ = cost_.mean_error();
  gradient_ = cost_.gradient(x_);
  // beta = <g+, g+ - T g> / <g+ - T g, T d>, cut at zero (Hestenes-Stiefel+).
  const Tangent change = add(-1, old_gradient, gradient_);
  const double denominator = inner(change, old_direction);
  const double beta = denominator != 0 ? std::max(0.0, inner(gradient_, change) / denominator) : 0.0;
  direction_ = add(-1, gradient_, scaled(beta, old_direction));
  if (!(inner(gradient_, direction_) < 0)) direction_ = scaled(-1, gradient_);
}

void ConjugateGradient::exchange(Exchange state) {
  state.matrix("m", direction_.m);
  state.matrix("up", direction_.up);
  state.matrix("vp", direction_.vp);
  state.number("next_trial", next_trial_);
}

}  // namespace tracenorm::baselines
