// What the searches for a radius share: where they begin, and what they say of a step.
#pragma once

#include "solver/evaluator.hpp"

namespace tracenorm {

/// A radius at which an atom is promised to lower the objective of where the evaluator stands by a small share; 0 where
/// nothing can.
double smallest_radius(Evaluator& f);

/// What it took to solve at a radius; the judge says the rest.
RadiusStep step_of(const Result& result, double radius, Index rank);

}  // namespace tracenorm
