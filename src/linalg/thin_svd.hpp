// A thin singular value decomposition that is updated, not recomputed: by a rank-one blend (a Frank-Wolfe step) and by
// a rank drop. Memory O((m + n) rank).
//
// X = Q C P' with orthonormal Q (m x a), P (n x b) and a small core C. A blend appends at most one column to each basis
// and touches the core; singular values and vectors come from the SVD of the core when somebody asks, C = A diag(s) B',
// so X = (Q A) diag(s) (P B)'. The bases are rotated and shortened only when they have grown well beyond the rank.
#pragma once

#include <Eigen/Core>

#include "tracenorm/low_rank_matrix.hpp"

namespace tracenorm {

class ThinSvd {
 public:
  explicit ThinSvd(const LowRankMatrix& x);

  /// X <- (1 - t) X + t atom.
  void blend(double t, const Atom& atom);
  /// X <- c U S^(1/2) (I - q q') S^(1/2) V' for a unit vector q: lowers the rank by exactly one. Returns the r x (r-1)
  /// matrix E with U <- U E and V <- V E.
  Eigen::MatrixXd drop(const Eigen::VectorXd& q, double c);

  [[nodiscard]] Index rank();
  /// An upper bound of the rank that needs no decomposition.
  [[nodiscard]] Index terms() const { return static_cast<Index>(values_.size()) + blends_since_; }
  [[nodiscard]] const Eigen::VectorXd& values();  ///< singular values, descending
  [[nodiscard]] double square_norm() const { return core_.squaredNorm(); }

  /// U w and V w for a small vector w, and all of U and V.
  void left_times(const Eigen::VectorXd& w, Eigen::VectorXd& out);
  void right_times(const Eigen::VectorXd& w, Eigen::VectorXd& out);
  [[nodiscard]] Eigen::MatrixXd left();
  [[nodiscard]] Eigen::MatrixXd right();

  /// out += factor X v, out += factor X' u, and u' X v.
  void add_product(double factor, const Eigen::Ref<const Eigen::VectorXd>& v, Eigen::VectorXd& out) const;
  void add_transpose_product(double factor, const Eigen::Ref<const Eigen::VectorXd>& u, Eigen::VectorXd& out) const;
  [[nodiscard]] double inner(const Eigen::VectorXd& u, const Eigen::VectorXd& v) const;

  [[nodiscard]] LowRankMatrix to_low_rank();
  /// Largest deviation of the bases from orthonormality.
  [[nodiscard]] double drift() const;

 private:
  void decompose();
  void rotate();
  void reorthogonalize();
  [[nodiscard]] auto q() const { return left_basis_.leftCols(core_.rows()); }
  [[nodiscard]] auto p() const { return right_basis_.leftCols(core_.cols()); }

  Index rows_;
  Index cols_;
  Eigen::MatrixXd left_basis_;   // m x capacity
  Eigen::MatrixXd right_basis_;  // n x capacity
  Eigen::MatrixXd core_;         // a x b
  bool decomposed_ = false;
  Eigen::MatrixXd core_left_;  // A
  Eigen::VectorXd values_;
  Eigen::MatrixXd core_right_;  // B
  int blends_ = 0;
  Index blends_since_ = 0;  // since the last decomposition
};

}  // namespace tracenorm
