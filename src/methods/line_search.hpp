// Exact line search: the objective on the segment from X to the target is a convex function of one variable.
#pragma once

#include "solver/evaluator.hpp"

namespace tracenorm {

/// The minimiser of f(X + t (S - X)) over t in [0, 1], to about 1e-5 of the interval, in five passes. Zero when no
/// point is better than X.
double line_search(Evaluator& evaluator);

/// The same for the smoothed objective of a width, whose derivative is all that is known of it: the last t, to about
/// 1/30000, up to which it surely falls.
double smoothed_line_search(Evaluator& evaluator, double width);

/// Whether the smoothed objective is surely not larger at the target S than at X. Its derivative along the segment
/// grows, so the sum over pieces of the segment of the derivative at the far end is an upper bound of the change; eight
/// pieces, and 64 if those cannot tell.
bool smoothed_descent(Evaluator& evaluator, double width);

}  // namespace tracenorm
