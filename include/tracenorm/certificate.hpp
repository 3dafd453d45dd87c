// How a lower bound was proved, and what that cost.
#pragma once

#include <vector>

#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {

/// Work counted without a clock.
struct Counters {
  double passes = 0;              ///< passes over the entries, everything included
  Offset products = 0;            ///< products with the slope matrix (a fused G'Gv counts once)
  double certificate_passes = 0;  ///< the part of `passes` spent on certificates (dense algebra converted to passes)
};

/// Which slope matrix a certificate is made from: the current one, the running average of past ones, or none at all
/// (each entry minimised on its own). `dual` is the dual point that was last made from one of them.
enum class Slopes { current, average, zero, dual };

/// A point G of the dual problem, from which the lower bound can be proved again:
///     min f >= - sum over all (i,j) of f*_ij(G_ij) - radius * sigma_1(diag(1 / row weight) G diag(1 / col weight)).
struct DualPoint {
  /// G at the observed entries, in the order of the observations. Dense observations, and sparse ones with an l1
  /// penalty, have rows * cols of them, row by row, with those of the holes.
  std::vector<Real> slope;
  /// G at all other places: no terms, unless a complement penalty acts on sparse observations.
  LowRankMatrix elsewhere;
};

/// An upper bound on the largest singular value and how it was proved.
struct SpectralBound {
  enum class Proof { none, exact, cholesky, probabilistic };
  double value = 0;
  Proof proof = Proof::none;
  double failure_probability = 0;  ///< of `value` being too small; zero for the first two proofs
};

}  // namespace tracenorm
