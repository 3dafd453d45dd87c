// A custom loss is looked at before it is used: what it is wrong about would be wrong in a proof.
#pragma once

#include <span>

#include "tracenorm/losses/custom.hpp"

namespace tracenorm {

/// Throws a usage error for a function that is visibly not convex or not finite on a grid around the data and the
/// radius. A sample cannot prove that it is convex.
void check_custom(const losses::Custom& loss, std::span<const Real> data, double radius);

}  // namespace tracenorm
