// What is true of an answer, by the definitions and in long double: the judge of the campaign.
#pragma once

#include <string>

#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/problem.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm::campaign {

/// f at the answer.
long double true_objective(const Problem& problem, const Result& answer);

/// The (weighted) trace norm of the answer, by a dense decomposition.
double true_trace_norm(const Problem& problem, const LowRankMatrix& x);

/// Empty: as symmetric in all bits, and as far from negative eigenvalues, as the problem wants it.
std::string wrong_shape(const Problem& problem, const LowRankMatrix& x);

}  // namespace tracenorm::campaign
