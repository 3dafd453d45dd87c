// How much larger than the answer predictions should be.
#pragma once

#include <span>

#include "tracenorm/fit.hpp"

namespace tracenorm {

/// Finds the gain g of the least mean huber:1 loss of g * answer + base against `value`, all in deviations. It is taken
/// only where it lowers the loss by twice what chance would make of it: few entries can do no harm.
Refit find_gain(std::span<const Real> answer, std::span<const double> base, std::span<const Real> value);

}  // namespace tracenorm
