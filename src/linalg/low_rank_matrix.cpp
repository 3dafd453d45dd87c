#include "tracenorm/low_rank_matrix.hpp"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cassert>
#include <utility>

#include "base/parallel.hpp"

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
  if (terms_ == values_.size()) reserve(std::max<Index>(16, 2 * terms_));
  values_.head(terms_) *= 1.0 - t;
  left_.col(terms_) = atom.left;
  right_.col(terms_) = atom.right;
  values_[terms_] = t * atom.weight;
  ++terms_;
}

void LowRankMatrix::blend(double t, const LowRankMatrix& other) {
  if (t >= 1.0) terms_ = 0;
  reserve(terms_ + other.terms());
  values_.head(terms_) *= 1.0 - t;
  left_.middleCols(terms_, other.terms()) = other.left();
  right_.middleCols(terms_, other.terms()) = other.right();
  values_.segment(terms_, other.terms()) = t * other.values();
  terms_ += other.terms();
}

void LowRankMatrix::scale(double factor) { values_.head(terms_) *= factor; }

void LowRankMatrix::scale(const Eigen::VectorXd& left_factor, const Eigen::VectorXd& right_factor) {
  left_.leftCols(terms_).array().colwise() *= left_factor.array();
  right_.leftCols(terms_).array().colwise() *= right_factor.array();
}

void LowRankMatrix::compress(double tolerance) {
  if (terms_ == 0) return;
  // X = (Q1 R1) diag(s) (Q2 R2)'; the SVD of the small core R1 diag(s) R2' rotates both bases.
  const auto orthogonalize = [](const Eigen::MatrixXd& columns, Eigen::MatrixXd& q, Eigen::MatrixXd& r) {
    const Eigen::Index thin = std::min(columns.rows(), columns.cols());
    Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
    q = Eigen::MatrixXd::Identity(columns.rows(), thin);
    q.applyOnTheLeft(qr.householderQ());
    r = qr.matrixQR().topRows(thin).triangularView<Eigen::Upper>();
  };
  Eigen::MatrixXd q_left;
  Eigen::MatrixXd r_left;
  Eigen::MatrixXd q_right;
  Eigen::MatrixXd r_right;
  orthogonalize(left(), q_left, r_left);
  orthogonalize(right(), q_right, r_right);
  const Eigen::MatrixXd core = r_left * values().asDiagonal() * r_right.transpose();
  Eigen::BDCSVD<Eigen::MatrixXd> svd(core, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::VectorXd& sigma = svd.singularValues();
  Eigen::Index kept = 0;
  while (kept < sigma.size() && sigma[kept] > tolerance * sigma[0] && sigma[kept] > 0) ++kept;
  terms_ = static_cast<Index>(kept);
  left_.leftCols(kept).noalias() = q_left * svd.matrixU().leftCols(kept);
  right_.leftCols(kept).noalias() = q_right * svd.matrixV().leftCols(kept);
  values_.head(kept) = sigma.head(kept);
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
  double sum = 0;
  for (Index t = 0; t < terms_; ++t) {
    sum += values_[t] * left_.col(t).dot(left_vector) * right_.col(t).dot(right_vector);
  }
  return sum;
}

double LowRankMatrix::inner(const LowRankMatrix& other) const {
  const Eigen::MatrixXd lefts = left().transpose() * other.left();
  const Eigen::MatrixXd rights = right().transpose() * other.right();
  return values().dot(lefts.cwiseProduct(rights) * other.values());
}

double LowRankMatrix::trace_norm_bound() const { return values().cwiseAbs().sum(); }

}  // namespace tracenorm
