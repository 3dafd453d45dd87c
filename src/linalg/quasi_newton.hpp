// L-BFGS directions (Liu and Nocedal 1989) in the form that needs inner products only (Chen, Wang and Zhou 2014): one
// pass over the remembered vectors learns a step, another one makes a direction, both in shards.
#pragma once

#include <Eigen/Core>
#include <initializer_list>
#include <vector>

#include "tracenorm/types.hpp"

namespace tracenorm {

class QuasiNewton {
 public:
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

  explicit QuasiNewton(int memory) : memory_(memory) {}

  /// Forgets all steps; the gradient, which may be of another size than before, is the one to go on from.
  void begin(const Vector& gradient);
  /// A step of t * direction has led to a point with this gradient. Steps without positive curvature are not
  /// remembered.
  void learn(const Vector& direction, double t, const Vector& gradient);
  /// direction = -H gradient for the last gradient told; returns gradient' direction (negative).
  double direction(Vector& out);

 private:
  /// Fills in the inner products of some remembered vectors with all, after work(first, count) on each block.
  template <class Work>
  void multiply(std::initializer_list<int> which, Work&& before);
  [[nodiscard]] int blocks() const;
  [[nodiscard]] Real* row(int which) { return rows_.data() + which * size_; }
  [[nodiscard]] int change_of(int slot) const { return memory_ + slot; }
  [[nodiscard]] int gradient_row() const { return 2 * memory_; }

  int memory_;
  Eigen::Index size_ = 0;
  std::vector<Real> rows_;       // steps, changes of gradient, gradient, behind one another
  Eigen::MatrixXd inner_;        // their inner products
  std::vector<int> order_;       // slots in use, oldest first
  std::vector<Vector> partial_;  // products by block
};

}  // namespace tracenorm
