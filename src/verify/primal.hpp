// The side of the answer: its objective and its trace norm, from above.
#pragma once

#include "base/execution.hpp"
#include "verify/observed.hpp"

namespace tracenorm::rigorous {

double objective_above(const Claim& claim, const Observed& observed, const LowRankMatrix& answer,
                       const Execution& execution);

/// Of diag(row_weight) X diag(col_weight), for factors that need not be orthogonal.
double trace_norm_above(const LowRankMatrix& answer, const TraceNormBall& ball);

}  // namespace tracenorm::rigorous
