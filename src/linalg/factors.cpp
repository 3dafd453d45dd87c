#include "tracenorm/factors.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.hpp"
#include "linalg/blas.hpp"

namespace tracenorm {

namespace {

constexpr Index kRowBlock = 1024;

int blocks_of(Index rows) { return (rows + kRowBlock - 1) / kRowBlock; }

/// work(block, first row, number of rows), possibly at once.
template <class Work>
void for_row_blocks(Index rows, Work&& work) {
  for_each_shard(blocks_of(rows), [&](int b) {
    const Index first = b * kRowBlock;
    work(b, first, std::min(kRowBlock, rows - first));
  });
}

/// sum += m' m.
void add_gram(Eigen::Map<const Factors::Matrix> m, Eigen::MatrixXd& sum) {
  const auto width = static_cast<Index>(m.cols());
  const auto rows = static_cast<Index>(m.rows());
  std::vector<Factors::Matrix> parts(static_cast<std::size_t>(blocks_of(rows)), Factors::Matrix(width, width));
  for_row_blocks(rows, [&](int b, Index first, Index count) {
    const Real* from = m.data() + static_cast<Offset>(first) * width;
    blas::gemm(blas::Shape::transposed, blas::Shape::plain, width, width, count, 1, from, width, from, width, 0,
               parts[static_cast<std::size_t>(b)].data(), width);
  });
  for (const Factors::Matrix& part : parts) sum += part.cast<double>();
}

/// m <- m * rotation.
void turn(Eigen::Map<Factors::Matrix> m, const Factors::Matrix& rotation) {
  const auto width = static_cast<Index>(m.cols());
  for_row_blocks(static_cast<Index>(m.rows()), [&](int, Index first, Index count) {
    Real* at = m.data() + static_cast<Offset>(first) * width;
    const Factors::Matrix old = Eigen::Map<Factors::Matrix>(at, count, width);
    blas::gemm(blas::Shape::plain, blas::Shape::plain, count, width, width, 1, old.data(), width, rotation.data(),
               width, 0, at, width);
  });
}

}  // namespace

Factors::Factors(Index rows, Index cols, Index terms)
    : rows_(rows), cols_(cols), width_((terms + kFactorStep - 1) / kFactorStep * kFactorStep) {
  value_.assign(left_size() + static_cast<std::size_t>(cols) * static_cast<std::size_t>(width_), Real(0));
}

Factors::Factors(const LowRankMatrix& x) : Factors(x.rows(), x.cols(), x.terms()) {
  const Eigen::VectorXd root = x.values().cwiseAbs().cwiseSqrt();
  const Eigen::VectorXd signed_root = root.cwiseProduct(x.values().cwiseSign());
  left().leftCols(x.terms()) = (x.left() * signed_root.asDiagonal()).cast<Real>();
  right().leftCols(x.terms()) = (x.right() * root.asDiagonal()).cast<Real>();
}

double Factors::half_square() const {
  double sum = 0;
  for (const Real v : value_) sum += double(v) * double(v);
  return sum / 2;
}

LowRankMatrix Factors::to_low_rank(double scale, double tolerance) const {
  const Eigen::VectorXd left_norm = left().cast<double>().colwise().norm();
  const Eigen::VectorXd right_norm = right().cast<double>().colwise().norm();
  const Eigen::VectorXd size = left_norm.cwiseProduct(right_norm);
  const double least = tolerance * size.sum();
  std::vector<Index> kept;
  for (Index k = 0; k < width_; ++k) {
    if (size[k] > least) kept.push_back(k);
  }
  const auto terms = static_cast<Index>(kept.size());
  Eigen::MatrixXd u(rows_, terms);
  Eigen::MatrixXd v(cols_, terms);
  Eigen::VectorXd values(terms);
  for (Index t = 0; t < terms; ++t) {
    const Index k = kept[static_cast<std::size_t>(t)];
    u.col(t) = left().col(k).cast<double>() / left_norm[k];
    v.col(t) = right().col(k).cast<double>() / right_norm[k];
    values[t] = scale * size[k];
  }
  return {std::move(u), std::move(values), std::move(v)};
}

void Factors::rotate() {
  if (width_ == 0) return;
  blas::use_one_thread();
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(width_, width_);
  add_gram(std::as_const(*this).left(), gram);
  add_gram(std::as_const(*this).right(), gram);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(gram);
  const Matrix rotation = eigen.eigenvectors().rowwise().reverse().cast<Real>();
  turn(left(), rotation);
  turn(right(), rotation);
}

void Factors::orthonormalize() {
  if (width_ == 0) return;
  blas::use_one_thread();
  constexpr double least = 1e-10;
  for (const bool of_left : {true, false}) {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(width_, width_);
    add_gram(of_left ? std::as_const(*this).left() : std::as_const(*this).right(), gram);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(gram);
    const double largest = eigen.eigenvalues()[width_ - 1];
    Eigen::VectorXd factor = Eigen::VectorXd::Zero(width_);
    for (Index k = 0; k < width_; ++k) {
      if (eigen.eigenvalues()[k] > least * largest) factor[k] = 1 / std::sqrt(eigen.eigenvalues()[k]);
    }
    const Eigen::MatrixXd rotation = (eigen.eigenvectors() * factor.asDiagonal()).rowwise().reverse();
    turn(of_left ? left() : right(), rotation.cast<Real>());
  }
}

}  // namespace tracenorm
