// Lanczos steps without a restart on a positive semidefinite operator on right panels: only the largest Ritz value, and
// of a symmetric operator the least as well. For
// probabilistic bounds, whose theorem (linalg/spectral_bound.hpp) is about exactly this.
#pragma once

#include <limits>

#include "base/function_ref.hpp"
#include "seam/panels.hpp"

namespace tracenorm {

/// Rounding of a basis in Real moves the largest Ritz value by less than this share of it.
inline constexpr double kLanczosRounding = 100 * static_cast<double>(std::numeric_limits<Real>::epsilon());

struct LanczosValue {
  double value = 0;  ///< the Ritz value, from above by its rounding
  int steps = 0;     ///< how many were made: there are no more than dimensions
};

/// Where the space is exhausted the steps go on from a fresh random direction. `start` is an exact panel of one column.
/// It and the vectors given to apply(v, out) are exact, the basis is in Real: half of what there is to keep and to
/// read.
LanczosValue lanczos_value(Panels& panels, FunctionRef<void(const Panel&, const Panel&)> apply, const Panel& start,
                           int steps, Random& random);

/// Both ends of the Ritz values of a symmetric operator, from outside by their rounding.
struct LanczosEnds {
  double least = 0;
  double largest = 0;
  int steps = 0;
};
LanczosEnds lanczos_ends(Panels& panels, FunctionRef<void(const Panel&, const Panel&)> apply, const Panel& start,
                         int steps, Random& random);

}  // namespace tracenorm
