// Offsets of rows and columns: the part of the data that needs no low-rank matrix.
#pragma once

#include "base/execution.hpp"
#include "tracenorm/preparation.hpp"

namespace tracenorm {

struct Shrinkage {
  double row = 0;
  double col = 0;
};

/// Fits y ~ offset + row offset + column offset (those that `kind` asks for) by shrunken means, in rounds. Robust
/// averaging weighs each entry by its residual (Hampel's redescending weights on the scale of the residuals that are
/// not gross). The scale is the standard deviation of the values that are not gross.
/// Returns the shrinkage it came to: how many entries an offset's pull to zero is worth.
Shrinkage fit_offsets(Preparation& preparation, Averaging averaging, const Entries& entries, Index rows, Index cols,
                      const Execution& execution);
Shrinkage fit_offsets(Preparation& preparation, Averaging averaging, const SparseObservations& data,
                      const Execution& execution);

}  // namespace tracenorm
