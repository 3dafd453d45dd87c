#include "tracenorm/low_rank_matrix.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <utility>

#include "base/parallel.hpp"
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

void LowRankMatrix::reserve(Index terms) {
  if (terms <= values_.size()) return;
  left_.conservativeResize(rows_, terms);
  right_.conservativeResize(cols_, terms);
  values_.conservativeResize(terms);
}

void LowRankMatrix::blend(double t, const Atom& atom) {
  if (t >= 1.0) terms_ = 0;
  decomposed_ = false;
  if (terms_ == values_.size()) reserve(std::max<Index>(16, 2 * terms_));
  values_.head(terms_) *= 1.0 - t;
  left_.col(terms_) = atom.left;
  right_.col(terms_) = atom.right;
  values_[terms_] = t * atom.weight;
  ++terms_;
}

void LowRankMatrix::blend(double t, const LowRankMatrix& other) {
  if (t >= 1.0) terms_ = 0;
  decomposed_ = false;
  reserve(terms_ + other.terms());
  values_.head(terms_) *= 1.0 - t;
  left_.middleCols(terms_, other.terms()) = other.left();
  right_.middleCols(terms_, other.terms()) = other.right();
  values_.segment(terms_, other.terms()) = t * other.values();
  terms_ += other.terms();
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

void LowRankMatrix::decompose() {
  // X = (Q1 R1) diag(s) (Q2 R2)'; the SVD of the small core R1 diag(s) R2' rotates both bases.
  std::array<std::optional<lapack::Qr>, 2> qr;
  for_each_shard(2, [&](int side) {
    qr[static_cast<std::size_t>(side)].emplace(side == 0 ? Eigen::MatrixXd(left()) : Eigen::MatrixXd(right()));
  });
  const lapack::Svd core = lapack::svd(lapack::product(qr[0]->r() * values().asDiagonal(), qr[1]->r(), true));
  terms_ = static_cast<Index>(core.values.size());
  values_.head(terms_) = core.values;
  for_each_shard(2, [&](int side) {
    if (side == 0) left_.leftCols(terms_) = qr[0]->times(core.left);
    if (side == 1) right_.leftCols(terms_) = qr[1]->times(core.right);
  });
  decomposed_ = true;
}

void LowRankMatrix::compress(double tolerance) {
  if (terms_ == 0 || !values().allFinite() || !left().allFinite() || !right().allFinite()) return;
  if (!decomposed_) decompose();
  Index kept = 0;
  while (kept < terms_ && values_[kept] > tolerance * values_[0] && values_[kept] > 0) ++kept;
  terms_ = kept;
}

double LowRankMatrix::entry(Index row, Index col) const {
  double sum = 0;
  for (Index t = 0; t < terms_; ++t) sum += values_[t] * left_(row, t) * right_(col, t);
  return sum;
}

void LowRankMatrix::sample(const std::vector<Index>& row, const std::vector<Index>& col, std::vector<Real>& out) const {
  // Row-major copies make one entry's factors contiguous.
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const RowMajor scaled_left = left() * values().asDiagonal();
  const RowMajor all_right = right();
  const std::size_t count = row.size();
  out.resize(count);
  constexpr std::size_t block = 65536;
  const int shards = static_cast<int>((count + block - 1) / block);
  for_each_shard(shards, [&](int shard) {
    const std::size_t from = static_cast<std::size_t>(shard) * block;
    const std::size_t to = std::min(count, from + block);
    for (std::size_t e = from; e < to; ++e) out[e] = Real(scaled_left.row(row[e]).dot(all_right.row(col[e])));
  });
}

Eigen::MatrixXd LowRankMatrix::dense_rows(Index first, Index last) const {
  return left().middleRows(first, last - first) * values().asDiagonal() * right().transpose();
}

double LowRankMatrix::inner(const Eigen::VectorXd& left_vector, const Eigen::VectorXd& right_vector) const {
  const Eigen::VectorXd lefts = left().transpose() * left_vector;
  const Eigen::VectorXd rights = right().transpose() * right_vector;
  return values().dot(lefts.cwiseProduct(rights));
}

double LowRankMatrix::inner(const LowRankMatrix& other) const {
  const Eigen::MatrixXd lefts = left().transpose() * other.left();
  const Eigen::MatrixXd rights = right().transpose() * other.right();
  return values().dot(lefts.cwiseProduct(rights) * other.values());
}

double LowRankMatrix::trace_norm_bound() const { return values().cwiseAbs().sum(); }

}  // namespace tracenorm
