#include "solver/factored_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/symmetric_eigen.hpp"
#include "solver/decomposition.hpp"

namespace tracenorm {

namespace {

constexpr Index kFirstRoom = 16;

/// Beside columns that are to stay where they are: Frank-Wolfe steps add one term each. Columns that nobody writes to
/// take no memory.
constexpr Index kSpareRoom = 4;

/// The first numbers of a buffer, which grows to `room` when it is too short, so that it seldom allocates.
Eigen::Ref<Eigen::VectorXd> beginning(Eigen::VectorXd& buffer, Index count, Eigen::Index room) {
  if (buffer.size() < count) buffer.resize(room);
  return buffer.head(count);
}

}  // namespace

FactoredMatrix::FactoredMatrix(Panels& panels)
    : panels_(&panels),
      left_(panels.make(Side::left, Use::exact, 0)),
      right_(panels.make(Side::right, Use::exact, 0)) {}

FactoredMatrix::FactoredMatrix(Panels& panels, Panel left, const Eigen::VectorXd& values, Panel right)
    : panels_(&panels),
      terms_(static_cast<Index>(values.size())),
      left_(std::move(left)),
      values_(left_.columns()),
      right_(std::move(right)) {
  values_.head(terms_) = values;
}

FactoredMatrix::FactoredMatrix(Panels& panels, const LowRankMatrix& x) : FactoredMatrix(panels) {
  reserve(x.terms(), kSpareRoom);
  terms_ = x.terms();
  values_.head(terms_) = x.values();
  if (terms_ == 0) return;
  panels.upload(x.left(), left());
  panels.upload(x.right(), right());
}

LowRankMatrix FactoredMatrix::download(Index rows, Index cols) const {
  if (terms_ == 0) return {rows, cols};
  return {panels_->download(left()), values(), panels_->download(right())};
}

FactoredMatrix FactoredMatrix::copy() const {
  FactoredMatrix result(*panels_, left(), values(), right());
  result.decomposed_ = decomposed_;
  result.seen_ = terms_;
  seen_ = std::max(seen_, terms_);
  return result;
}

FactoredMatrix FactoredMatrix::first_terms(const Eigen::VectorXd& values) const {
  FactoredMatrix result(*panels_);
  const auto terms = static_cast<Index>(values.size());
  result.blend(1, FactoredMatrix(*panels_, left_.middle(0, terms), values, right_.middle(0, terms)));
  result.decomposed_ = decomposed_ && values.size() == terms_ && values == this->values();
  return result;
}

bool FactoredMatrix::seen_from(Index first) const {
  if (!left_.shared() && !right_.shared()) seen_ = 0;  // the copies are gone, or have moved
  return first < seen_;
}

void FactoredMatrix::relocate(Index room) {
  const Panel left = panels_->make(Side::left, Use::exact, room);
  const Panel right = panels_->make(Side::right, Use::exact, room);
  if (terms_ > 0) {
    panels_->copy(this->left(), left.middle(0, terms_));
    panels_->copy(this->right(), right.middle(0, terms_));
  }
  left_ = left;
  right_ = right;
  values_.conservativeResize(room);
  seen_ = 0;
}

void FactoredMatrix::own() {
  if (seen_from(0)) relocate(terms_ + kSpareRoom);
}

void FactoredMatrix::reserve(Index terms, Index more) {
  if (terms > values_.size() || seen_from(terms_)) relocate(terms + more);
}

void FactoredMatrix::blend(double t, const Atom& atom) {
  if (t >= 1.0) terms_ = 0;
  decomposed_ = false;
  reserve(terms_ + 1, std::max(kFirstRoom, terms_ / 4) - 1);
  values_.head(terms_) *= 1.0 - t;
  panels_->add(0, 1, atom.left, left_.column(terms_));
  panels_->add(0, 1, atom.right, right_.column(terms_));
  values_[terms_] = t * atom.weight;
  ++terms_;
}

void FactoredMatrix::blend(double t, const FactoredMatrix& other) {
  if (t >= 1.0) terms_ = 0;
  decomposed_ = false;
  reserve(terms_ + other.terms(), kFirstRoom);
  values_.head(terms_) *= 1.0 - t;
  values_.segment(terms_, other.terms()) = t * other.values();
  for (Index k = 0; k < other.terms(); ++k, ++terms_) {
    panels_->add(0, 1, other.left_.column(k), left_.column(terms_));
    panels_->add(0, 1, other.right_.column(k), right_.column(terms_));
  }
}

Product FactoredMatrix::extend(Index count) {
  reserve(terms_ + count);
  values_.segment(terms_, count).setOnes();
  terms_ += count;
  decomposed_ = false;
  return {left(), right()};
}

void FactoredMatrix::scale(double factor) {
  values_.head(terms_) *= factor;
  decomposed_ = decomposed_ && factor > 0;
}

void FactoredMatrix::scale(const Panel& left_factor, const Panel& right_factor) {
  if (terms_ == 0) return;
  own();
  panels_->scale_rows(left(), left_factor);
  panels_->scale_rows(right(), right_factor);
  decomposed_ = false;
}

void FactoredMatrix::compress(double tolerance) {
  if (terms_ == 0) return;
  if (!decomposed_) {
    own();
    Panel left = this->left();
    Panel right = this->right();
    Eigen::VectorXd values = this->values();
    if (!decompose(*panels_, left, values, right)) return;
    terms_ = static_cast<Index>(values.size());
    values_.head(terms_) = values;
    decomposed_ = true;
  }
  Index kept = 0;
  while (kept < terms_ && values_[kept] > tolerance * values_[0] && values_[kept] > 0) ++kept;
  terms_ = kept;
}

Eigen::VectorXd FactoredMatrix::signs() const {
  Eigen::VectorXd signs(terms_);
  for (Index k = 0; k < terms_; ++k) {
    signs[k] = values_[k] * panels_->dot(left_.column(k), right_.column(k)) < 0 ? -1 : 1;
  }
  return signs;
}

void FactoredMatrix::compress(Symmetry symmetry, double tolerance) {
  const bool done = decomposed_;
  compress(tolerance);
  if (done || !decomposed_ || symmetry == Symmetry::none || terms_ == 0) return;
  // In the basis of U, X = U S V' is the small matrix S V'U.
  const Eigen::MatrixXd core = values().asDiagonal() * panels_->gram(right(), left());
  const SymmetricEigen eigen = leading_eigen((core + core.transpose()) / 2,
                                             symmetry == Symmetry::semidefinite ? Signs::positive : Signs::any, 0);
  const auto kept = static_cast<Index>(eigen.values.size());
  Eigen::MatrixXd flip = Eigen::MatrixXd::Zero(kept, kept);
  for (Index k = 0; k < kept; ++k) flip(k, k) = eigen.values[k] < 0 ? -1 : 1;
  const Panel right = panels_->make(Side::right, Use::exact, kept);
  const Panel left = panels_->make(Side::left, Use::exact, kept);
  if (kept > 0) {
    panels_->combine(0, this->left(), eigen.vectors, right);
    panels_->combine(0, right, flip, left);
  }
  left_ = left;
  right_ = right;
  values_ = eigen.values.cwiseAbs();
  terms_ = 0;
  while (terms_ < kept && values_[terms_] > tolerance * values_[0]) ++terms_;
}

void FactoredMatrix::add_product(double factor, const Panel& v, const Panel& out) const {
  if (terms_ == 0) return;
  const bool transposed = v.side() == Side::left;
  auto coefficients = beginning(left_coefficients_, terms_, values_.size());
  panels_->gram(transposed ? left() : right(), v, coefficients);
  coefficients.array() *= factor * values().array();
  panels_->combine(1, transposed ? right() : left(), coefficients, out);
}

double FactoredMatrix::inner(const Panel& left_vector, const Panel& right_vector) const {
  if (terms_ == 0) return 0;
  auto lefts = beginning(left_coefficients_, terms_, values_.size());
  auto rights = beginning(right_coefficients_, terms_, values_.size());
  panels_->gram(left(), left_vector, lefts);
  panels_->gram(right(), right_vector, rights);
  return values().dot(lefts.cwiseProduct(rights));
}

double FactoredMatrix::inner(const FactoredMatrix& other) const {
  if (terms_ == 0 || other.terms_ == 0) return 0;
  const Eigen::MatrixXd lefts = panels_->gram(left(), other.left());
  const Eigen::MatrixXd rights = panels_->gram(right(), other.right());
  return values().dot(lefts.cwiseProduct(rights) * other.values());
}

}  // namespace tracenorm
