#include "solver/thin_svd.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "linalg/lapack.hpp"
#include "linalg/symmetric_eigen.hpp"

namespace tracenorm {

namespace {

/// The bases may hold this many more columns than the rank before they are rotated.
constexpr Eigen::Index kSlack = 16;
constexpr Index kFirstColumns = 32;

/// A new direction shorter than this is already in the span.
constexpr double kInSpan = 1e-10;

constexpr double kRounding = 1e-12;  // singular values below this share of the first are rounding
constexpr int kDriftInterval = 50;   // blends between two looks at the orthonormality
constexpr double kMostDrift = 1e-10;

}  // namespace

ThinSvd::ThinSvd(FactoredMatrix x, Symmetry symmetry)
    : panels_(&x.panels()),
      symmetry_(symmetry),
      left_rest_(panels_->make(Side::left, Use::exact, 1)),
      right_rest_(panels_->make(Side::right, Use::exact, 1)) {
  x.compress(symmetry);
  x.own();
  left_basis_ = x.left();
  right_basis_ = x.right();
  core_ = Eigen::VectorXd(x.values()).asDiagonal();
  if (symmetry != Symmetry::none && x.terms() > 0) {
    const Eigen::VectorXd signs = x.signs();
    core_ = core_ * signs.asDiagonal();
    panels_->combine(0, right_basis_, Eigen::MatrixXd::Identity(x.terms(), x.terms()), left_basis_);
  }
  decompose();
}

Eigen::VectorXd ThinSvd::extend(Panel& basis, Eigen::Index used, const Panel& vector) {
  const Panel& rest = vector.side() == Side::left ? left_rest_ : right_rest_;
  panels_->add(0, 1, vector, rest);
  const Panel span = basis.middle(0, static_cast<Index>(used));
  Eigen::VectorXd coefficients = Eigen::VectorXd::Zero(used);
  for (int pass = 0; pass < 2 && used > 0; ++pass) {  // of Gram-Schmidt
    const Eigen::VectorXd more = panels_->gram(span, rest);
    panels_->combine(1, span, -more, rest);
    coefficients += more;
  }
  const double length = std::sqrt(panels_->dot(rest, rest));
  const double whole = std::sqrt(panels_->dot(vector, vector));
  if (length <= kInSpan * whole || used == panels_->length(vector)) return coefficients;
  if (basis.columns() == used) {
    const Panel larger =
        panels_->make(vector.side(), Use::exact, std::max(kFirstColumns, 2 * static_cast<Index>(used)));
    for (Index k = 0; k < used; ++k) panels_->add(0, 1, basis.column(k), larger.column(k));
    basis = larger;
  }
  panels_->add(0, 1 / length, rest, basis.column(static_cast<Index>(used)));
  coefficients.conservativeResize(used + 1);
  coefficients[used] = length;
  return coefficients;
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
  if (++blends_ % kDriftInterval == 0 && drift() > kMostDrift) *this = ThinSvd(factors(), symmetry_);
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
  if (!core_.allFinite()) {  // it has no decomposition; one value that is none says so to everybody
    core_left_ = Eigen::MatrixXd::Identity(core_.rows(), 1);
    core_right_ = Eigen::MatrixXd::Identity(core_.cols(), 1);
    values_ = Eigen::VectorXd::Constant(1, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  if (symmetry_ != Symmetry::none) return decompose_symmetric();
  const lapack::Svd svd = lapack::svd(core_);
  const Eigen::VectorXd& s = svd.values;
  Eigen::Index rank = 0;
  while (rank < s.size() && s[rank] > kRounding * s[0]) ++rank;
  values_ = s.head(rank);
  core_left_ = svd.left.leftCols(rank);
  core_right_ = svd.right.leftCols(rank);
}

void ThinSvd::decompose_symmetric() {
  core_ = (0.5 * (core_ + core_.transpose())).eval();
  const bool positive = symmetry_ == Symmetry::semidefinite;
  SymmetricEigen eigen = leading_eigen(core_, positive ? Signs::positive : Signs::any, kRounding);
  values_ = eigen.values.cwiseAbs();
  signs_ = (eigen.values.array() < 0).select(Eigen::VectorXd::Constant(eigen.values.size(), -1), 1);
  core_right_ = std::move(eigen.vectors);
  core_left_ = core_right_ * signs_.asDiagonal();
}

const Eigen::VectorXd& ThinSvd::signs() {
  decompose();
  return signs_;
}

void ThinSvd::rotate() {
  decompose();
  const Eigen::Index rank = values_.size();
  const auto terms = static_cast<Index>(rank);
  const bool symmetric = symmetry_ != Symmetry::none;  // then the core takes the signs, and both bases stay the same
  panels_->combine(0, panels_->copy(q()), symmetric ? core_right_ : core_left_, left_basis_.middle(0, terms));
  panels_->combine(0, panels_->copy(p()), core_right_, right_basis_.middle(0, terms));
  core_ = values_.asDiagonal();
  core_left_ = Eigen::MatrixXd::Identity(rank, rank);
  core_right_ = Eigen::MatrixXd::Identity(rank, rank);
  if (!symmetric) return;
  core_ = core_ * signs_.asDiagonal();
  core_left_ = signs_.asDiagonal();
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
    Eigen::VectorXd mirror = unit;
    mirror[0] += unit[0] < 0 ? -1 : 1;
    Eigen::MatrixXd rest = Eigen::MatrixXd::Identity(r, r).rightCols(r - 1);
    rest.noalias() -= mirror * (mirror.tail(r - 1).transpose() * (2 / mirror.squaredNorm()));
    const Eigen::MatrixXd scaled = values_.cwiseSqrt().asDiagonal() * rest;
    const lapack::Svd svd = lapack::svd(scaled);
    rotation = svd.left;
    values_ = c * svd.values.cwiseAbs2();
    core_left_ = (core_left_ * rotation).eval();
    core_right_ = (core_right_ * rotation).eval();
  }
  core_.noalias() = core_left_ * values_.asDiagonal() * core_right_.transpose();
  if (symmetry_ != Symmetry::none) {  // rounding between the signs is taken out when it is next decomposed
    decomposed_ = false;
    ++blends_since_;
  }
  return rotation;
}

Index ThinSvd::rank() { return static_cast<Index>(values().size()); }

const Eigen::VectorXd& ThinSvd::values() {
  decompose();
  return values_;
}

void ThinSvd::left_times(const Eigen::VectorXd& w, const Panel& out) {
  decompose();
  panels_->combine(0, q(), core_left_ * w, out);
}

void ThinSvd::right_times(const Eigen::VectorXd& w, const Panel& out) {
  decompose();
  panels_->combine(0, p(), core_right_ * w, out);
}

Panel ThinSvd::left() {
  decompose();
  Panel out = panels_->make(Side::left, Use::exact, static_cast<Index>(values_.size()));
  panels_->combine(0, q(), core_left_, out);
  return out;
}

Panel ThinSvd::right() {
  decompose();
  Panel out = panels_->make(Side::right, Use::exact, static_cast<Index>(values_.size()));
  panels_->combine(0, p(), core_right_, out);
  return out;
}

void ThinSvd::add_product(double factor, const Panel& v, const Panel& out) const {
  if (core_.size() == 0) return;
  if (v.side() == Side::right) {
    panels_->combine(1, q(), factor * (core_ * panels_->gram(p(), v)), out);
  } else {
    panels_->combine(1, p(), factor * (core_.transpose() * panels_->gram(q(), v)), out);
  }
}

double ThinSvd::inner(const Panel& u, const Panel& v) const {
  if (core_.size() == 0) return 0;
  const Eigen::VectorXd a = panels_->gram(q(), u);
  const Eigen::VectorXd b = panels_->gram(p(), v);
  return a.dot(core_ * b);
}

FactoredMatrix ThinSvd::factors() {
  decompose();
  if (values_.size() == 0) return FactoredMatrix(*panels_);
  return {*panels_, left(), values_, right()};
}

double ThinSvd::drift() const {
  const auto off = [&](const Panel& basis) {
    if (basis.columns() == 0) return 0.0;
    const Eigen::MatrixXd gram = panels_->gram(basis, basis);
    return (gram - Eigen::MatrixXd::Identity(gram.rows(), gram.cols())).cwiseAbs().maxCoeff();
  };
  return std::max(off(q()), off(p()));
}

}  // namespace tracenorm
