// minimize  sum over observed (i,j) of weight_ij loss(X_ij, Y_ij) + penalty(X)   subject to  X in the constraint set
#pragma once

#include "tracenorm/constraint.hpp"
#include "tracenorm/loss.hpp"
#include "tracenorm/observations.hpp"
#include "tracenorm/penalty.hpp"

namespace tracenorm {

struct Problem {
  Observations observations;
  Loss loss = losses::Absolute{};
  Penalty penalty = NoPenalty{};
  TraceNormBall constraint{};

  [[nodiscard]] double radius() const { return constraint.radius; }
};

/// Throws an error that names every part that cannot be: an empty or infinite datum, a label a loss does not accept, a
/// negative radius or lambda, weights that are not positive.
void check(const Problem& problem);

}  // namespace tracenorm
