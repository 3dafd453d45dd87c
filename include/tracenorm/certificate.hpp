// How a lower bound was proved, and what that cost.
#pragma once

#include "tracenorm/types.hpp"

namespace tracenorm {

/// Work counted without a clock.
struct Counters {
  double passes = 0;              ///< passes over the entries, everything included
  Offset products = 0;            ///< products with the slope matrix (a fused G'Gv counts once)
  double certificate_passes = 0;  ///< the part of `passes` spent on certificates (dense algebra converted to passes)
};

/// Which slope matrix a certificate is made from: the current one, the running average of past ones, or none at all
/// (each entry minimised on its own). All are dual feasible.
enum class Slopes { current, average, zero };

/// An upper bound on the largest singular value and how it was proved.
struct SpectralBound {
  enum class Proof { none, exact, cholesky, probabilistic };
  double value = 0;
  Proof proof = Proof::none;
  double failure_probability = 0;  ///< of `value` being too small; zero for the first two proofs
};

}  // namespace tracenorm
