// Lists of entries come from outside: what is wrong with them is said before anybody follows their places.
#pragma once

#include "base/execution.hpp"
#include "tracenorm/loss.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm {

/// Throws an input error about the first entry whose place is not in the matrix.
void require_inside(Index rows, Index cols, const Entries& entries, const Execution& execution);

/// The same about validation entries, and about values that are not finite or that the loss has no use for.
void check_held_out(const Entries& held_out, Index rows, Index cols, const Loss& loss);

}  // namespace tracenorm
