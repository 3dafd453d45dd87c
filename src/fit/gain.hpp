// How much larger than the answer predictions should be.
#pragma once

#include <span>
#include <vector>

#include "base/execution.hpp"
#include "tracenorm/fit.hpp"

namespace tracenorm {

/// The answer at some entries in two parts: `small` is what singular values near zero contribute, `large` the others;
/// a value s of at most `largest` belongs to `small` by the share 1 - s / largest.
struct SplitAnswer {
  std::vector<Real> large;
  std::vector<Real> small;
};
SplitAnswer split_answer(const LowRankMatrix& x, const Entries& entries, const Execution& execution);

/// Finds the gains of the least mean huber:1 loss of gain * large + small_gain * small + base against `value`, all in
/// deviations. A gain is taken only where it lowers the loss by twice what chance would make of it, two different ones
/// only where they are as much better than one: few entries can do no harm.
Refit find_gain(const SplitAnswer& answer, std::span<const double> base, std::span<const Real> value,
                const Execution& execution);

/// The singular values of the answer times their gains.
std::vector<double> gained(const LowRankMatrix& x, const Refit& refit);

}  // namespace tracenorm
