// Entries that ranks have read in stretches of a file, on their way to who has their rows.
#pragma once

#include <vector>

#include "io/doubts.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {

/// Passes over bytes, and returns how many there were.
std::uint64_t skip(ByteSource& bytes, std::uint64_t count);

/// Every entry goes to the rank that has its row, where all keep the order of the file; rows are cut as shards of the
/// data would be. Says what is where in `dealt`, and returns the place of the first entry that this rank has read.
Offset deal_rows(NamedEntries& data, DealtEntries& dealt);

/// Entries at these places are gone from the data, of this rank and of others; the rest moves up.
void leave_places(DealtEntries& dealt, const std::vector<Offset>& gone);

/// The sample of the whole file.
ValueSample sample_of(const std::vector<Real>& values, const DealtEntries& dealt);

}  // namespace tracenorm::io
