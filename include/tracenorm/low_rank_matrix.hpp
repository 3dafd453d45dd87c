// Matrices that are sums of few terms of rank one: where a run begins, and what it returns.
#pragma once

#include <Eigen/Core>

#include "tracenorm/observations.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {

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

  /// X <- factor X.
  void scale(double factor);
  /// X <- diag(left) X diag(right).
  void scale(const Eigen::VectorXd& left, const Eigen::VectorXd& right);
  /// Rewrites the same matrix as a thin SVD: QR of both sides, SVD of the small core; values up to `tolerance` times
  /// the largest are dropped (the default drops rounding only). A matrix with values that are not finite stays as it
  /// is. Zero threads means all cores, as in RunOptions; the bits do not depend on it.
  void compress(double tolerance = kRounding, int threads = 1);
  static constexpr double kRounding = 1e-12;

  [[nodiscard]] double entry(Index row, Index col) const;
  /// The entries at the given places. Zero threads means all cores, as in RunOptions.
  void sample(const std::vector<Index>& row, const std::vector<Index>& col, std::vector<Real>& out,
              int threads = 0) const;
  /// Rows [first, last) as a dense block.
  [[nodiscard]] Eigen::MatrixXd dense_rows(Index first, Index last) const;
  [[nodiscard]] Eigen::MatrixXd dense() const { return dense_rows(0, rows_); }
  /// Sum of |values|: an upper bound of the trace norm, equal to it after `compress`.
  [[nodiscard]] double trace_norm_bound() const;

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Index terms_ = 0;
  Eigen::MatrixXd left_;  // of at least so many columns
  Eigen::VectorXd values_;
  Eigen::MatrixXd right_;
  bool decomposed_ = false;  // it is a thin SVD already
};

}  // namespace tracenorm
