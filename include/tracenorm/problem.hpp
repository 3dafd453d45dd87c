// minimize  sum over observed (i,j) of weight_ij loss(X_ij, Y_ij) + penalty(X)   subject to  X in the constraint set
// or, with offsets in the model, over X, b and c
//           sum over observed (i,j) of weight_ij loss(X_ij + b_i + c_j, Y_ij) + row ridge |b|^2 + column ridge |c|^2
#pragma once

#include <optional>
#include <vector>

#include "tracenorm/constraint.hpp"
#include "tracenorm/loss.hpp"
#include "tracenorm/observations.hpp"
#include "tracenorm/penalty.hpp"

namespace tracenorm {

/// Offsets of rows and columns are fitted together with X; these keep those of few entries near zero. Both above zero.
struct OffsetRidge {
  double row = 1;
  double col = 1;
};

/// b and c of a model with offsets, in the units of the prepared data; empty without.
struct SideOffsets {
  std::vector<double> row{};
  std::vector<double> col{};
};

struct Problem {
  Observations observations;
  Loss loss = losses::Absolute{};
  Penalty penalty = NoPenalty{};
  TraceNormBall constraint{};
  std::optional<OffsetRidge> offsets{};  ///< not together with a penalty

  [[nodiscard]] double radius() const { return constraint.radius; }
};

/// Throws an error that names every part that cannot be: an empty or infinite datum, a label a loss does not accept, a
/// negative radius or lambda, weights that are not positive. Zero threads means all cores, as in RunOptions.
void check(const Problem& problem, int threads = 0);

}  // namespace tracenorm
