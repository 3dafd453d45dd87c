// Descent on the smoothed objective over the factors of X.
//
// Every X in the ball is radius * left right' / N with N = (|left|^2 + |right|^2 + s^2) / 2, which no length of (left,
// right, s) changes: the bound on the trace norm is built in, and s is what is left of it (zero on the boundary). With
// slopes G at X and q = <G, X> / N the gradient is
//     (scale G right - q left,  scale G' left - q right,  -q s),        scale = radius / N.
// L-BFGS runs on it in coordinates whose columns are stretched so that their curvatures are about even.
//
// Offsets of rows and columns, where the problem has them, descend together with the factors: b is the last but one
// column of the left panel, c the last of the right one, stretched row by row. Columns of the factors that belong to
// them have the stretch 0, so that nothing but the offsets' own functions meets them.
#pragma once

#include <functional>

#include "methods/quasi_newton.hpp"
#include "solver/evaluator.hpp"

namespace tracenorm::methods {

class FactorDescent {
 public:
  /// `memory`: how many steps it remembers.
  FactorDescent(Evaluator& f, int memory);

  /// Lowers the smoothed objective of the given width from the sum of these by at most `steps` steps, or until `stop`
  /// says so, and returns where it came, with room for some terms. Those that have become negligible are left out.
  /// Offsets begin where the evaluator has them.
  ModelPoint descend(FactoredMatrix x, FactoredMatrix seeds, double width, int steps,
                     const std::function<bool()>& stop);

 private:
  /// Turns both sides of the factors by one rotation that makes the columns orthogonal on average, largest first.
  /// Neither the product nor its size changes, but columns that are not needed become small.
  void rotate();
  /// Of a symmetric problem left = right times signs of columns, which stay as they are in a descent: the signs of
  /// `factors_`, and one side from the other.
  void learn_signs();
  void mirror(const Panel& from, const Panel& to);
  void rotate_symmetric();
  /// (|left|^2 + |right|^2) / 2 of the factors: at least the trace norm of the product.
  [[nodiscard]] double half_square();
  /// Writes the point that is t steps away into the factors, unstretched; returns N.
  double unstretch(double t);
  /// The gradient there.
  void evaluate(double t, DescentPoint& gradient);
  /// A diagonal matrix, until the next one.
  template <class Numbers>
  const Eigen::MatrixXd& diagonal(const Numbers& numbers);
  /// out <- keep * out + in with columns of left and right times these numbers, and its slack.
  template <class Left, class Right>
  void stretch(double keep, const Left& left, const Right& right, double slack, const DescentPoint& in,
               DescentPoint& out);
  /// The offsets t steps away to `offsets_`, and the other way round: these, times `factors` from then on.
  void take_offsets(double t);
  void put_offsets(const OffsetPanels& offsets, const OffsetPanels& factors, const DescentPoint& point);
  /// Stretches columns by the curvature that one short step along the gradient shows.
  void precondition();
  /// How many steps to a better point, whose gradient is made; zero when there is none.
  double search(double slope, const std::function<bool()>& stop);
  /// radius / N * left * right' of the factors, which are let go of, and this s, without columns below a share of the
  /// sum of all.
  [[nodiscard]] FactoredMatrix answer(double slack);

  Evaluator& f_;
  Panels& panels_;
  QuasiNewton curvature_;
  double width_ = 0;
  Eigen::VectorXd signs_;
  Product factors_;
  double multiplier_ = 0;  // -q of the last evaluation: what a unit of the radius would gain
  Eigen::VectorXd left_stretch_;
  Eigen::VectorXd right_stretch_;
  double slack_stretch_ = 1;
  Eigen::MatrixXd diagonal_;  // kept so that steps do not allocate
  OffsetPanels offsets_;      // of the last evaluation, and their gradient
  OffsetPanels offset_gradient_;
  OffsetPanels offset_stretch_;
  OffsetPanels offset_shrink_;  // its inverse
  DescentPoint point_;          // stretched
};

}  // namespace tracenorm::methods
