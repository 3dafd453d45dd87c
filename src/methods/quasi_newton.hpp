// L-BFGS directions (Liu and Nocedal 1989) in the form that needs inner products only (Chen, Wang and Zhou 2014): the
// remembered vectors stay where they are, and what comes to the host are their inner products.
#pragma once

#include "methods/descent_point.hpp"

namespace tracenorm::methods {

class QuasiNewton {
 public:
  QuasiNewton(Panels& panels, int memory);

  /// Forgets all steps; the gradient, which may be of another size than before, is the one to go on from. It is not
  /// copied: it must stay as it is until another one is told.
  void begin(const DescentPoint& gradient);
  /// A step of t * direction has led to a point with this gradient. Steps without positive curvature are not
  /// remembered.
  void learn(const DescentPoint& direction, double t, const DescentPoint& gradient);
  /// direction = -H gradient for the last gradient told; returns gradient' direction (negative).
  double direction(DescentPoint& out);

 private:
  /// The panels of the gradient take part where they are.
  void refer_to(const DescentPoint& gradient);
  /// Fills in the inner products of a remembered vector with all.
  void multiply(int which);
  [[nodiscard]] DescentPoint& vector(int which) { return vectors_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] int change_of(int slot) const { return memory_ + slot; }
  [[nodiscard]] int gradient_slot() const { return 2 * memory_; }

  Panels& panels_;
  int memory_;
  std::vector<DescentPoint> vectors_;  // steps, changes of gradient, gradient
  std::vector<Panel> lefts_;           // their panels as columns
  std::vector<Panel> rights_;
  Eigen::MatrixXd inner_;   // their inner products
  std::vector<int> order_;  // slots in use, oldest first
  // Kept so that steps do not allocate.
  Eigen::VectorXd products_;
  Eigen::VectorXd right_products_;
  Eigen::VectorXd coefficients_;
  std::vector<double> alpha_;
};

}  // namespace tracenorm::methods
