// Directions for a descent over factors to grow into.
#pragma once

#include "base/random.hpp"
#include "solver/evaluator.hpp"

namespace tracenorm::methods {

/// What the current slopes M say about the spans of X and what lies outside of them.
class Seeds {
 public:
  Seeds(Evaluator& f, std::uint64_t seed) : f_(f), random_(seed) {}

  /// Takes X as it is now; returns the largest singular value of M on its spans, max(|M Q_right|, |M' Q_left|). Where X
  /// is optimal within its spans that is -<M, X> / radius, and a larger singular value of M belongs to a new direction.
  double inside(const FactoredMatrix& x);

  /// About the leading singular triples of M outside the spans of X, with minus the singular values as values (the sign
  /// that descends). A few rounds of simultaneous iteration: the descent makes of them what it can. At most `most`.
  FactoredMatrix outside(Index most);

  /// Lets go of the spans of X.
  void forget() { span_ = {}; }

  void exchange(Exchange state) { state.random("random", random_); }

 private:
  /// The same for eigenvectors of a symmetric M, over the semidefinite cone those below zero.
  FactoredMatrix symmetric_outside(const Product& block, const Product& product, Index most);
  void leave_spans(const Product& block);
  /// Makes the columns of each side orthonormal, each side for itself; those without a part of their own become zero,
  /// or noise in single precision.
  void orthonormalize(const Product& block);

  Evaluator& f_;
  Product span_;  // orthonormal bases
  Index terms_ = 0;
  Random random_;
};

}  // namespace tracenorm::methods
