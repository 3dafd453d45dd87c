// Where a search for a radius begins.
#pragma once

#include "solver/evaluator.hpp"

namespace tracenorm {

/// A radius at which an atom is promised to lower the objective of where the evaluator stands by a small share; 0 where
/// nothing can.
double smallest_radius(Evaluator& f);

}  // namespace tracenorm
