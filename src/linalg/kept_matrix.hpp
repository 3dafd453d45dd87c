// How a low-rank matrix is kept.
#pragma once

#include "base/exchange.hpp"
#include "tracenorm/low_rank_matrix.hpp"

namespace tracenorm {

void exchange(Exchange state, LowRankMatrix& x);

}  // namespace tracenorm
