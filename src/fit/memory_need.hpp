// What a fit will need in memory beside the entries that it is given.
#pragma once

#include "tracenorm/fit.hpp"

namespace tracenorm {

/// Bytes that the fit of so many entries takes at its peak beside the lists it is given (which it frees), at least:
/// arrays of one number an entry, and the factors and bases of the first iterations. Ranks that turn out to be high
/// need more. Options must be settled; `on_share` says whether settings are searched for on a share of the rows.
double bytes_needed(Index rows, Index cols, Offset entries, bool weighted, const FitOptions& options, bool on_share);

/// Throws an input error, a sentence with both numbers, where that is more than there is.
void require_memory(const FitData& data, const FitOptions& options, double available);

}  // namespace tracenorm
