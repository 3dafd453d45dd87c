// L-BFGS directions (Liu and Nocedal 1989) in the form that needs inner products only (Chen, Wang and Zhou 2014): the
// remembered vectors stay where they are, and what comes to the host are their inner products.
#pragma once

#include <span>
#include <vector>

#include "methods/descent_point.hpp"

namespace tracenorm::methods {

/// Keeps its points itself, and as few as possible: they are what a descent needs most memory for. A step is made in
/// the place of the oldest one that is remembered, the gradient after it beside that.
class QuasiNewton {
 public:
  QuasiNewton(Panels& panels, int memory);

  /// Makes room for points of so many columns, unless it is there.
  void prepare(Index columns);
  /// Lets go of all points.
  void release();

  /// Where the gradient is told, at first and after all was forgotten.
  [[nodiscard]] DescentPoint& gradient() { return gradient_; }
  /// Forgets all steps; the gradient is the one to go on from.
  void begin();
  /// step() = -H gradient; returns gradient' step (negative). Then either a step is learnt, or all is forgotten.
  double direction();
  [[nodiscard]] DescentPoint& step() { return steps_[free_slot()]; }
  /// Where the gradient after the step is to be made.
  [[nodiscard]] DescentPoint& next_gradient() { return changes_[free_slot()]; }
  /// t * step() has led to a point whose gradient is next_gradient(), and is gradient() from now on. Steps without
  /// positive curvature are not remembered.
  void learn(double t);

 private:
  [[nodiscard]] std::size_t free_slot() const {
    return static_cast<int>(order_.size()) == memory_ ? static_cast<std::size_t>(order_.front()) : order_.size();
  }
  /// Refers to the panels of the points in these slots, and of the gradient.
  void list(std::span<const int> slots);
  /// Fills in the inner products of a point with those.
  void multiply(int which);
  [[nodiscard]] DescentPoint& point(int which);
  [[nodiscard]] int change_of(int slot) const { return memory_ + slot; }
  [[nodiscard]] int gradient_slot() const { return 2 * memory_; }

  Panels& panels_;
  int memory_;
  std::vector<DescentPoint> steps_;
  std::vector<DescentPoint> changes_;  // of the gradient
  DescentPoint gradient_;
  Eigen::MatrixXd inner_;   // their inner products: of steps, changes, the gradient
  std::vector<int> order_;  // slots in use, oldest first
  // Kept so that steps do not allocate.
  std::vector<int> listed_;
  std::vector<Panel> lefts_;
  std::vector<Panel> rights_;
  Eigen::VectorXd products_;
  Eigen::VectorXd right_products_;
  Eigen::VectorXd coefficients_;
  std::vector<double> alpha_;
};

}  // namespace tracenorm::methods
