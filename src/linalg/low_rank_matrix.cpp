#include "tracenorm/low_rank_matrix.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/execution.hpp"
#include "linalg/kept_matrix.hpp"
#include "linalg/lapack.hpp"

namespace tracenorm {

LowRankMatrix::LowRankMatrix(Eigen::MatrixXd left, Eigen::VectorXd values, Eigen::MatrixXd right)
    : rows_(static_cast<Index>(left.rows())),
      cols_(static_cast<Index>(right.rows())),
      terms_(static_cast<Index>(values.size())),
      left_(std::move(left)),
      values_(std::move(values)),
      right_(std::move(right)) {
  assert(left_.cols() == terms_ && right_.cols() == terms_);
}

void LowRankMatrix::scale(double factor) {
  values_.head(terms_) *= factor;
  decomposed_ = decomposed_ && factor > 0;
}

void LowRankMatrix::scale(const Eigen::VectorXd& left_factor, const Eigen::VectorXd& right_factor) {
  left_.leftCols(terms_).array().colwise() *= left_factor.array();
  right_.leftCols(terms_).array().colwise() *= right_factor.array();
  decomposed_ = false;
}

void LowRankMatrix::compress(double tolerance, int threads) {
  if (terms_ == 0 || !values().allFinite() || !left().allFinite() || !right().allFinite()) return;
  if (!decomposed_) {
    const lapack::OneThread blas;
    lapack::Svd svd{left(), values(), right()};
    lapack::decompose_product(svd, Execution(threads));
    left_ = std::move(svd.left);
    values_ = std::move(svd.values);
    right_ = std::move(svd.right);
    terms_ = static_cast<Index>(values_.size());
    decomposed_ = true;
  }
  Index kept = 0;
  while (kept < terms_ && values_[kept] > tolerance * values_[0] && values_[kept] > 0) ++kept;
  terms_ = kept;
}

double LowRankMatrix::entry(Index row, Index col) const {
  double sum = 0;
  for (Index t = 0; t < terms_; ++t) sum += values_[t] * left_(row, t) * right_(col, t);
  return sum;
}

void LowRankMatrix::sample(const std::vector<Index>& row, const std::vector<Index>& col, std::vector<Real>& out,
                           int threads) const {
  // Row-major copies make one entry's factors contiguous.
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const RowMajor scaled_left = left() * values().asDiagonal();
  const RowMajor all_right = right();
  const std::size_t count = row.size();
  out.resize(count);
  constexpr Offset block = 65536;
  Execution(threads).for_each_block(static_cast<Offset>(count), block, [&](Offset first, Offset size) {
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + size); ++e) {
      out[e] = Real(scaled_left.row(row[e]).dot(all_right.row(col[e])));
    }
  });
}

Eigen::MatrixXd LowRankMatrix::dense_rows(Index first, Index last) const {
  return left().middleRows(first, last - first) * values().asDiagonal() * right().transpose();
}

double LowRankMatrix::trace_norm_bound() const { return values().cwiseAbs().sum(); }

void exchange(Exchange state, LowRankMatrix& x) {
  Eigen::MatrixXd left = x.left();
  Eigen::VectorXd values = x.values();
  Eigen::MatrixXd right = x.right();
  state.matrix("left", left);
  state.matrix("values", values);
  state.matrix("right", right);
  if (state.restores()) x = LowRankMatrix(std::move(left), std::move(values), std::move(right));
}

}  // namespace tracenorm
