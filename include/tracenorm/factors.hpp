// A matrix as a product of two thin ones, left * right', stored in Real and row by row: what optimisation over the
// factors works with.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "tracenorm/low_rank_matrix.hpp"

namespace tracenorm {

class Factors {
 public:
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  Factors() = default;
  /// Zero, with room for `terms` columns. The rows' length is the next multiple of kFactorStep.
  Factors(Index rows, Index cols, Index terms);
  /// left_t * sqrt(value_t) and right_t * sqrt(value_t) for each term of a matrix (signs go to the left).
  explicit Factors(const LowRankMatrix& x);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index width() const { return width_; }
  [[nodiscard]] Eigen::Map<Matrix> left() { return {value_.data(), rows_, width_}; }
  [[nodiscard]] Eigen::Map<const Matrix> left() const { return {value_.data(), rows_, width_}; }
  [[nodiscard]] Eigen::Map<Matrix> right() { return {value_.data() + left_size(), cols_, width_}; }
  [[nodiscard]] Eigen::Map<const Matrix> right() const { return {value_.data() + left_size(), cols_, width_}; }
  /// Left and right behind one another.
  [[nodiscard]] std::vector<Real>& values() { return value_; }
  [[nodiscard]] const std::vector<Real>& values() const { return value_; }

  /// (|left|^2 + |right|^2) / 2: at least the trace norm of the product.
  [[nodiscard]] double half_square() const;
  /// scale * left * right', with columns that differ in size made even and those below `tolerance` times the sum of
  /// all left out.
  [[nodiscard]] LowRankMatrix to_low_rank(double scale, double tolerance = 0) const;
  /// Turns both sides by one rotation that makes the columns orthogonal on average, largest first. Neither the product
  /// nor half_square changes, but columns that are not needed become small.
  void rotate();
  /// Makes the columns of each side orthonormal, each side for itself; those without a part of their own become zero,
  /// or noise in single precision.
  void orthonormalize();

 private:
  [[nodiscard]] std::size_t left_size() const {
    return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(width_);
  }

  Index rows_ = 0;
  Index cols_ = 0;
  Index width_ = 0;
  std::vector<Real> value_;
};

}  // namespace tracenorm
