// One function per method, from (its options, the evaluator, the session) to a finished session.
#pragma once

#include "methods/session.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm::methods {

void run(const FrankWolfe& options, Evaluator& f, Session& session);

}  // namespace tracenorm::methods
