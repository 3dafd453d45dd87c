// A random share of the rows of large data, on which settings are searched for: columns, entries of a row and what a
// radius means are those of all rows.
#pragma once

#include <cstdint>
#include <vector>

#include "tracenorm/observations.hpp"

namespace tracenorm {

struct RowShare {
  Index rows = 0;              ///< of the share; numbered in the order they have in the data
  Entries entries;             ///< in the share's rows
  std::vector<Real> weight{};  ///< empty, or one per entry
};

/// Rows drawn one by one, each remaining one with the same probability, until they have so many entries.
RowShare draw_rows(const SparseObservations& all, Offset entries, std::uint64_t seed);

}  // namespace tracenorm
