// One function per method, from (its options, the problem seen through an evaluator, the session) to a finished
// session. The bounded methods know the problem by the evaluator's verbs alone; the baselines look at the data
// themselves, report each iterate by `restart`, and leave the last one there.
#pragma once

#include <limits>

#include "methods/session.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm::methods {

/// The lower bound of a method that proves none.
inline constexpr double kNoBound = -std::numeric_limits<double>::infinity();

void run(const FrankWolfe& options, const Problem& problem, Evaluator& f, Session& session);
void run(const RankDrop& options, const Problem& problem, Evaluator& f, Session& session);
void run(const Corrective& options, const Problem& problem, Evaluator& f, Session& session);
void run(const GenFB& options, const Problem& problem, Evaluator& f, Session& session);
void run(const Rlrmc& options, const Problem& problem, Evaluator& f, Session& session);
void run(const Glrl& options, const Problem& problem, Evaluator& f, Session& session);

}  // namespace tracenorm::methods
