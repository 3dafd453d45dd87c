// The largest singular value of the slopes, from above; over the semidefinite cone the largest eigenvalue of minus the
// slopes.
#pragma once

#include <string>
#include <vector>

#include "base/execution.hpp"
#include "tracenorm/verify.hpp"
#include "verify/dual.hpp"

namespace tracenorm::rigorous {

struct NormBound {
  double value = 0;                ///< sigma_1 is at most this
  double failure_probability = 0;  ///< but for this probability
  std::string how;
};

/// Of diag(1 / row_weight) G diag(1 / col_weight). A claim needs it to be at most `wanted`: that is tried first by
/// norms that cost a pass, then by one factorisation, or by a run from a random start where that would be too large.
/// The result is above `wanted` when it could not be shown.
NormBound bound_norm(const Claim& claim, const FeasibleSlopes& slopes, double wanted, const VerifyOptions& options,
                     const Execution& execution);

}  // namespace tracenorm::rigorous
