#include "solver/iterate.hpp"

#include <algorithm>
#include <utility>

namespace tracenorm {

Iterate::Iterate(Index rows, Index cols, Panels& panels, Symmetry symmetry)
    : symmetry_(symmetry), most_terms_(std::max<Index>(64, 2 * std::min(rows, cols))), factors_(panels) {}

bool Iterate::blend(double t, const Atom& atom) {
  if (thin_) {
    thin_->blend(t, atom);
    stale_ = true;
    return false;
  }
  if (t >= 1) keep_remembered();
  factors_.blend(t, atom);
  if (factors_.terms() < most_terms_) return false;
  compress();  // once per min(m, n) moves costs little
  return true;
}

void Iterate::blend(double t, FactoredMatrix other) {
  if (t >= 1) {
    keep_remembered();
    factors_ = std::move(other);
  } else {
    factors_.blend(t, other);
  }
}

void Iterate::restart(FactoredMatrix x) {
  keep_remembered();
  x.compress(symmetry_);
  factors_ = std::move(x);
  stale_ = false;
  if (thin_) thin_.emplace(factors_.copy(), symmetry_);
}

void Iterate::compress() {
  keep_remembered();
  if (!thin_) factors_.compress(symmetry_);
}

const FactoredMatrix& Iterate::factors() {
  if (stale_) factors_ = thin_->factors();
  stale_ = false;
  return factors_;
}

FactoredMatrix Iterate::take() {
  FactoredMatrix x = factors().copy();
  factors_ = FactoredMatrix(x.panels());
  thin_.reset();
  remembered_.reset();
  return x;
}

void Iterate::keep_thin() {
  keep_remembered();
  if (!thin_) thin_.emplace(factors_.copy(), symmetry_);
}

Eigen::MatrixXd Iterate::drop(const Eigen::VectorXd& q, double scale) {
  stale_ = true;
  return thin_->drop(q, scale);
}

void Iterate::remember() {
  remembered_.reset();
  if (thin_) {
    remembered_ = factors().copy();
  } else {
    remembered_values_ = factors_.values();
  }
}

FactoredMatrix Iterate::remembered() {
  keep_remembered();
  return remembered_->copy();
}

void Iterate::keep_remembered() {
  if (!remembered_) remembered_ = factors_.first_terms(remembered_values_);
}

void Iterate::add_product(double factor, const Panel& v, const Panel& out) const {
  thin_ ? thin_->add_product(factor, v, out) : factors_.add_product(factor, v, out);
}

double Iterate::inner(const Panel& u, const Panel& v) const {
  return thin_ ? thin_->inner(u, v) : factors_.inner(u, v);
}

}  // namespace tracenorm
