// Rank-one atoms, and matrices that are sums of few of them. Never made dense in the sparse case.
#pragma once

#include <Eigen/Core>

#include "tracenorm/observations.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {

/// weight * left * right', with unit vectors.
struct Atom {
  Eigen::VectorXd left;
  Eigen::VectorXd right;
  double weight = 0.0;
};

/// sum_t value_t left_t right_t'. The columns need not be orthogonal until `compress` has been called; afterwards it is
/// a thin singular value decomposition, values descending and positive.
class LowRankMatrix {
 public:
  LowRankMatrix() = default;
  /// The zero matrix.
  LowRankMatrix(Index rows, Index cols) : rows_(rows), cols_(cols), left_(rows, 0), right_(cols, 0) {}
  LowRankMatrix(Eigen::MatrixXd left, Eigen::VectorXd values, Eigen::MatrixXd right);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index terms() const { return terms_; }  ///< an upper bound of the rank; the rank after `compress`
  [[nodiscard]] auto left() const { return left_.leftCols(terms_); }
  [[nodiscard]] auto values() const { return values_.head(terms_); }
  [[nodiscard]] auto right() const { return right_.leftCols(terms_); }

  /// Makes room for this many terms, so that blending does not allocate.
  void reserve(Index terms);
  /// X <- (1 - t) X + t atom. A step of one forgets all former terms.
  void blend(double t, const Atom& atom);
  void blend(double t, const LowRankMatrix& other);
  /// X <- factor X.
  void scale(double factor);
  /// X <- diag(left) X diag(right).
  void scale(const Eigen::VectorXd& left, const Eigen::VectorXd& right);
  /// Rewrites the same matrix as a thin SVD: QR of both sides, SVD of the small core; values up to `tolerance` times
  /// the largest are dropped (the default drops rounding only). A matrix with values that are not finite stays as it
  /// is.
  void compress(double tolerance = 1e-12);

  [[nodiscard]] double entry(Index row, Index col) const;
  /// The entries at the given places.
  void sample(const std::vector<Index>& row, const std::vector<Index>& col, std::vector<Real>& out) const;
  /// Rows [first, last) as a dense block.
  [[nodiscard]] Eigen::MatrixXd dense_rows(Index first, Index last) const;
  [[nodiscard]] Eigen::MatrixXd dense() const { return dense_rows(0, rows_); }
  /// left' X right for given vectors: the inner product with an atom.
  [[nodiscard]] double inner(const Eigen::VectorXd& left, const Eigen::VectorXd& right) const;
  /// The inner product with another matrix.
  [[nodiscard]] double inner(const LowRankMatrix& other) const;
  /// Sum of |values|: an upper bound of the trace norm, equal to it after `compress`.
  [[nodiscard]] double trace_norm_bound() const;

 private:
  /// Makes it a thin SVD, with values of zero where the rank is lower.
  void decompose();

  Index rows_ = 0;
  Index cols_ = 0;
  Index terms_ = 0;
  Eigen::MatrixXd left_;     // rows_ x capacity
  Eigen::VectorXd values_;   // capacity
  Eigen::MatrixXd right_;    // cols_ x capacity
  bool decomposed_ = false;  // it is a thin SVD already
};

}  // namespace tracenorm
