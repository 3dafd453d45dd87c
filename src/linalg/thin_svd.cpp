#include "linalg/thin_svd.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "linalg/lapack.hpp"

namespace tracenorm {

namespace {

/// The bases may hold this many more columns than the rank before they are rotated.
constexpr Eigen::Index kSlack = 16;

/// A new direction shorter than this is already in the span.
constexpr double kInSpan = 1e-10;

constexpr double kRounding = 1e-12;  // singular values below this share of the first are rounding
constexpr int kDriftInterval = 50;   // blends between two looks at the orthonormality
constexpr double kMostDrift = 1e-10;

/// Coefficients of `vector` in the basis, with the new direction appended when there is one. Two passes of
/// Gram-Schmidt.
Eigen::VectorXd extend(Eigen::MatrixXd& basis, Eigen::Index used, const Eigen::VectorXd& vector) {
  Eigen::VectorXd rest = vector;
  Eigen::VectorXd coefficients = Eigen::VectorXd::Zero(used);
  for (int pass = 0; pass < 2 && used > 0; ++pass) {
    const Eigen::VectorXd more = basis.leftCols(used).transpose() * rest;
    rest.noalias() -= basis.leftCols(used) * more;
    coefficients += more;
  }
  const double length = rest.norm();
  if (length <= kInSpan * vector.norm() || used == vector.size()) return coefficients;
  if (basis.cols() == used) basis.conservativeResize(Eigen::NoChange, std::max<Eigen::Index>(32, 2 * used));
  basis.col(used) = rest / length;
  coefficients.conservativeResize(used + 1);
  coefficients[used] = length;
  return coefficients;
}

}  // namespace

ThinSvd::ThinSvd(const LowRankMatrix& x) : rows_(x.rows()), cols_(x.cols()) {
  LowRankMatrix thin = x;
  thin.compress();
  left_basis_ = thin.left();
  right_basis_ = thin.right();
  core_ = Eigen::VectorXd(thin.values()).asDiagonal();
  decompose();
}

void ThinSvd::blend(double t, const Atom& atom) {
  if (t >= 1.0) {  // forgets all there was
    core_.resize(0, 0);
    values_.resize(0);
    blends_since_ = 0;
  }
  const Eigen::Index a = core_.rows();
  const Eigen::Index b = core_.cols();
  const Eigen::VectorXd u = extend(left_basis_, a, atom.left);
  const Eigen::VectorXd v = extend(right_basis_, b, atom.right);
  core_.conservativeResize(u.size(), v.size());
  core_.bottomRows(u.size() - a).setZero();
  core_.rightCols(v.size() - b).setZero();
  core_ *= 1.0 - t;
  core_.noalias() += (t * atom.weight) * u * v.transpose();
  decomposed_ = false;
  ++blends_since_;
  if (++blends_ % kDriftInterval == 0 && drift() > kMostDrift) reorthogonalize();
  if (std::min(core_.rows(), core_.cols()) > values_.size() + kSlack) rotate();
}

void ThinSvd::decompose() {
  if (decomposed_) return;
  decomposed_ = true;
  blends_since_ = 0;
  if (core_.size() == 0) {
    core_left_.resize(core_.rows(), 0);
    core_right_.resize(core_.cols(), 0);
    values_.resize(0);
    return;
  }
  const lapack::Svd svd = lapack::svd(core_);
  const Eigen::VectorXd& s = svd.values;
  Eigen::Index rank = 0;
  while (rank < s.size() && s[rank] > kRounding * s[0]) ++rank;
  values_ = s.head(rank);
  core_left_ = svd.left.leftCols(rank);
  core_right_ = svd.right.leftCols(rank);
}

void ThinSvd::rotate() {
  decompose();
  const Eigen::Index rank = values_.size();
  left_basis_.leftCols(rank) = lapack::product(q(), core_left_);
  right_basis_.leftCols(rank) = lapack::product(p(), core_right_);
  core_ = values_.asDiagonal();
  core_left_ = Eigen::MatrixXd::Identity(rank, rank);
  core_right_ = Eigen::MatrixXd::Identity(rank, rank);
}

void ThinSvd::reorthogonalize() {
  const auto repair = [](Eigen::MatrixXd& basis, Eigen::Index used) -> Eigen::MatrixXd {
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(basis.leftCols(used));
    const Eigen::MatrixXd r = qr.matrixQR().topRows(used).triangularView<Eigen::Upper>();
    basis.leftCols(used) = qr.householderQ() * Eigen::MatrixXd::Identity(basis.rows(), used);
    return r;
  };
  const Eigen::MatrixXd left_r = repair(left_basis_, core_.rows());
  const Eigen::MatrixXd right_r = repair(right_basis_, core_.cols());
  core_ = left_r * core_ * right_r.transpose();
  decomposed_ = false;
}

Eigen::MatrixXd ThinSvd::drop(const Eigen::VectorXd& unit, double c) {
  decompose();
  const Eigen::Index r = values_.size();
  assert(unit.size() == r && r >= 1);
  Eigen::MatrixXd rotation = Eigen::MatrixXd::Identity(r, r - 1);
  if (std::abs(unit[r - 1]) == 1.0) {  // the smallest singular value is deleted: nothing else turns
    values_ = c * values_.head(r - 1).eval();
    core_left_.conservativeResize(Eigen::NoChange, r - 1);
    core_right_.conservativeResize(Eigen::NoChange, r - 1);
  } else {
    // N: the last r-1 columns of the Householder matrix of q span its complement, so I - q q' = N N'. With the SVD
    // S^(1/2) N = E T F', X+ = c (U E) T^2 (V E)': no difference is formed, nothing cancels.
    const Eigen::HouseholderQR<Eigen::MatrixXd> householder(unit);
    const Eigen::MatrixXd all = householder.householderQ() * Eigen::MatrixXd::Identity(r, r);
    const Eigen::MatrixXd scaled = values_.cwiseSqrt().asDiagonal() * all.rightCols(r - 1);
    const lapack::Svd svd = lapack::svd(scaled);
    rotation = svd.left;
    values_ = c * svd.values.cwiseAbs2();
    core_left_ = (core_left_ * rotation).eval();
    core_right_ = (core_right_ * rotation).eval();
  }
  core_.noalias() = core_left_ * values_.asDiagonal() * core_right_.transpose();
  return rotation;
}

Index ThinSvd::rank() { return static_cast<Index>(values().size()); }

const Eigen::VectorXd& ThinSvd::values() {
  decompose();
  return values_;
}

void ThinSvd::left_times(const Eigen::VectorXd& w, Eigen::VectorXd& out) {
  decompose();
  out.noalias() = q() * (core_left_ * w);
}

void ThinSvd::right_times(const Eigen::VectorXd& w, Eigen::VectorXd& out) {
  decompose();
  out.noalias() = p() * (core_right_ * w);
}

Eigen::MatrixXd ThinSvd::left() {
  decompose();
  return lapack::product(q(), core_left_);
}

Eigen::MatrixXd ThinSvd::right() {
  decompose();
  return lapack::product(p(), core_right_);
}

void ThinSvd::add_product(double factor, const Eigen::Ref<const Eigen::VectorXd>& v, Eigen::VectorXd& out) const {
  const Eigen::VectorXd small = factor * (core_ * (p().transpose() * v));
  out.noalias() += q() * small;
}

void ThinSvd::add_transpose_product(double factor, const Eigen::Ref<const Eigen::VectorXd>& u,
                                    Eigen::VectorXd& out) const {
  const Eigen::VectorXd small = factor * (core_.transpose() * (q().transpose() * u));
  out.noalias() += p() * small;
}

double ThinSvd::inner(const Eigen::VectorXd& u, const Eigen::VectorXd& v) const {
  const Eigen::VectorXd a = q().transpose() * u;
  const Eigen::VectorXd b = p().transpose() * v;
  return a.dot(core_ * b);
}

LowRankMatrix ThinSvd::to_low_rank() {
  decompose();
  if (values_.size() == 0) return {rows_, cols_};
  return {left(), values_, right()};
}

double ThinSvd::drift() const {
  const auto off = [](const Eigen::MatrixXd& gram) {
    return gram.size() == 0 ? 0.0 : (gram - Eigen::MatrixXd::Identity(gram.rows(), gram.cols())).cwiseAbs().maxCoeff();
  };
  return std::max(off(q().transpose() * q()), off(p().transpose() * p()));
}

}  // namespace tracenorm
