// Entries of a product of factors, with a bound on their rounding.
#pragma once

#include <Eigen/Core>

#include "tracenorm/low_rank_matrix.hpp"
#include "verify/rounding.hpp"

namespace tracenorm::rigorous {

/// The Frobenius norm, from above.
inline double norm_above(const Eigen::Ref<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>& matrix) {
  SumAbove squares;
  for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) squares.add(square_above(matrix(i, j)));
  }
  return above(std::sqrt(squares.value()));
}

/// x_ij = sum_k left_ik value_k right_jk, with a root of the value on either side: then the sum of the absolute values
/// of the products is at most the product of two norms (Cauchy and Schwarz) that are no larger than they must be. A
/// computed entry has at most terms + 5 roundings, those of the roots included, so it is within gamma_{terms + 6} times
/// that sum of the exact one.
class FactoredEntries {
 public:
  explicit FactoredEntries(const LowRankMatrix& matrix);

  [[nodiscard]] Index row_count() const { return static_cast<Index>(left_.rows()); }
  [[nodiscard]] Index col_count() const { return static_cast<Index>(right_.rows()); }
  [[nodiscard]] Index terms() const { return static_cast<Index>(left_.cols()); }
  [[nodiscard]] double at(Index row, Index col) const { return left_.row(row).dot(right_.row(col)); }
  /// How far a computed entry may be from the exact one.
  [[nodiscard]] double error(Index row, Index col) const { return row_error_[row] * col_size_[col]; }
  [[nodiscard]] Range range(double computed, Index row, Index col) const {
    const double e = error(row, col);
    return {below(computed - e), above(computed + e)};
  }
  /// Rows [first, last), one after the other. BLAS must be on one thread.
  void rows(Index first, Index last, double* out) const;
  /// The Frobenius norm of everything that `error` bounds: at most.
  [[nodiscard]] double error_norm() const;

 private:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor left_;  // times roots of the values
  RowMajor right_;
  Eigen::VectorXd row_error_;
  Eigen::VectorXd col_size_;
};

}  // namespace tracenorm::rigorous
