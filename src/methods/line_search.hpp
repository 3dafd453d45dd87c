// Exact line search: the objective on the segment from X to the target is a convex function of one variable.
#pragma once

#include "tracenorm/evaluator.hpp"

namespace tracenorm {

/// The minimiser of f(X + t (S - X)) over t in [0, 1], to about 1e-5 of the interval, in five passes. Zero when no
/// point is better than X.
double line_search(Evaluator& evaluator);

}  // namespace tracenorm
