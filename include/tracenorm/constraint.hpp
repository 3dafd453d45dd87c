// The set the answer lies in. A variant from the start, so that other sets (the cone of covariances) can join.
#pragma once

#include <variant>

namespace tracenorm {

/// { X : sum of singular values <= radius }. Its extreme points are radius * u v' with unit u, v.
struct TraceNormBall {
  double radius = 1.0;
};

using Constraint = std::variant<TraceNormBall>;

}  // namespace tracenorm
