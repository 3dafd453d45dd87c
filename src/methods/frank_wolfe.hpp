// The part of a Frank-Wolfe iteration that methods share.
#pragma once

#include "tracenorm/solve.hpp"

namespace tracenorm::methods {

/// Lines 7 and 4 of Algorithm 1: finds the atom that minimises the linear model, aims at it, and chooses the step.
double aim_at_leading_atom(const FrankWolfe& options, Evaluator& f, int k);

}  // namespace tracenorm::methods
