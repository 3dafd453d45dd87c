// Descent on the smoothed objective over the factors of X.
//
// Every X in the ball is radius * left right' / N with N = (|left|^2 + |right|^2 + s^2) / 2, which no length of (left,
// right, s) changes: the bound on the trace norm is built in, and s is what is left of it (zero on the boundary). With
// slopes G at X and q = <G, X> / N the gradient is
//     (scale G right - q left,  scale G' left - q right,  -q s),        scale = radius / N.
// L-BFGS runs on it in coordinates whose columns are stretched so that their curvatures are about even.
#pragma once

#include <Eigen/Core>
#include <functional>

#include "linalg/quasi_newton.hpp"
#include "tracenorm/evaluator.hpp"

namespace tracenorm::methods {

class FactorDescent {
 public:
  explicit FactorDescent(Evaluator& f);

  /// Lowers the smoothed objective of the given width from x by at most `steps` steps, or until `stop` says so, and
  /// returns where it came. Terms that have become negligible are left out.
  LowRankMatrix descend(const LowRankMatrix& x, double width, int steps, const std::function<bool()>& stop);

 private:
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

  /// Writes the point into the factors, unstretched; returns N.
  double unstretch(const Vector& point);
  void evaluate(const Vector& point, Vector& gradient);
  /// Stretches columns by the curvature that one short step along the gradient shows.
  void precondition();
  /// A better point along `direction_`: then it is in `trial_`, its gradient in `trial_gradient_`. Returns the step, or
  /// zero when there is none.
  double search(double slope);
  /// work(block, its first element of left and right behind one another, number of rows, stretch of their columns),
  /// possibly at once.
  template <class Work>
  void for_rows(Work&& work);

  Evaluator& f_;
  QuasiNewton curvature_;
  double width_ = 0;
  Factors factors_;
  Factors products_;
  double multiplier_ = 0;  // -q of the last evaluation: what a unit of the radius would gain
  Vector left_stretch_;
  Vector right_stretch_;
  Real slack_stretch_ = 1;
  Vector point_;  // left, right, s, stretched
  Vector gradient_;
  Vector direction_;
  Vector trial_;
  Vector trial_gradient_;
};

}  // namespace tracenorm::methods
