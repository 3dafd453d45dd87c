// A thin singular value decomposition that is updated, not recomputed: by a rank-one blend (a Frank-Wolfe step) and by
// a rank drop. Memory O((m + n) rank).
//
// X = Q C P' with orthonormal Q (m x a), P (n x b) and a small core C. A blend appends at most one column to each basis
// and touches the core; singular values and vectors come from the SVD of the core when somebody asks, C = A diag(s) B',
// so X = (Q A) diag(s) (P B)'. The bases are rotated and shortened only when they have grown well beyond the rank.
#pragma once

#include <Eigen/Core>

#include "solver/factored_matrix.hpp"

namespace tracenorm {

class ThinSvd {
 public:
  /// Of a symmetric matrix both bases are the same numbers, and the core is symmetric.
  explicit ThinSvd(FactoredMatrix x, Symmetry symmetry = Symmetry::none);

  /// X <- (1 - t) X + t atom.
  void blend(double t, const Atom& atom);
  /// X <- c U S^(1/2) (I - q q') S^(1/2) V' for a unit vector q: lowers the rank by exactly one. Returns the r x (r-1)
  /// matrix E with U <- U E and V <- V E.
  Eigen::MatrixXd drop(const Eigen::VectorXd& q, double c);

  [[nodiscard]] Index rank();
  /// An upper bound of the rank that needs no decomposition.
  [[nodiscard]] Index terms() const { return static_cast<Index>(values_.size()) + blends_since_; }
  [[nodiscard]] const Eigen::VectorXd& values();  ///< singular values, descending
  /// Of the eigenvalues of a symmetric matrix: U = V diag(signs).
  [[nodiscard]] const Eigen::VectorXd& signs();
  [[nodiscard]] double square_norm() const { return core_.squaredNorm(); }

  /// out = U w and out = V w for a small vector w; and all of U and V.
  void left_times(const Eigen::VectorXd& w, const Panel& out);
  void right_times(const Eigen::VectorXd& w, const Panel& out);
  [[nodiscard]] Panel left();
  [[nodiscard]] Panel right();

  /// out += factor X v for a right panel v of one column, X' v for a left one; and u' X v.
  void add_product(double factor, const Panel& v, const Panel& out) const;
  [[nodiscard]] double inner(const Panel& u, const Panel& v) const;

  [[nodiscard]] FactoredMatrix factors();
  /// Largest deviation of the bases from orthonormality.
  [[nodiscard]] double drift() const;

 private:
  /// Coefficients of `vector` in the basis, with the new direction appended when there is one.
  Eigen::VectorXd extend(Panel& basis, Eigen::Index used, const Panel& vector);
  void decompose();
  void decompose_symmetric();
  void rotate();
  [[nodiscard]] Panel q() const { return left_basis_.middle(0, static_cast<Index>(core_.rows())); }
  [[nodiscard]] Panel p() const { return right_basis_.middle(0, static_cast<Index>(core_.cols())); }

  Panels* panels_;
  Symmetry symmetry_;
  Panel left_basis_;  // of as many columns as there is room for
  Panel right_basis_;
  Panel left_rest_;  // what a new vector has outside of the basis
  Panel right_rest_;
  Eigen::MatrixXd core_;  // a x b
  bool decomposed_ = false;
  Eigen::MatrixXd core_left_;  // A
  Eigen::VectorXd values_;
  Eigen::VectorXd signs_;
  Eigen::MatrixXd core_right_;  // B
  int blends_ = 0;
  Index blends_since_ = 0;  // since the last decomposition
};

}  // namespace tracenorm
