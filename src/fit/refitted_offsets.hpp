// Offsets of rows and columns for a matrix that is given.
#pragma once

#include <vector>

#include "base/execution.hpp"
#include "tracenorm/problem.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm {

/// Improves the offsets b and c of sum loss(x + b + c) + ridges, rows and columns in turn, from where they are. A loss
/// that is not smooth is replaced by huber:1.
void refit_offsets(const Loss& loss, const OffsetRidge& ridge, const SparseObservations& data,
                   const std::vector<Real>& x, SideOffsets& offsets, const Execution& execution);

}  // namespace tracenorm
