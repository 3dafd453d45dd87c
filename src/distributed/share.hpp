// Which rows are whose: contiguous ranges in the order of ranks, about equally many entries in each.
#pragma once

#include <vector>

#include "tracenorm/problem.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm::distributed {

struct Share {
  std::vector<Index> cuts;  ///< rows of rank r: [cuts[r], cuts[r+1])
  int rank = 0;

  [[nodiscard]] Index first() const { return cuts[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Index last() const { return cuts[static_cast<std::size_t>(rank) + 1]; }
  [[nodiscard]] Index rows() const { return last() - first(); }
  [[nodiscard]] Index all_rows() const { return cuts.back(); }
  [[nodiscard]] bool owns(Index row) const { return row >= first() && row < last(); }
};

/// A usage error where there are fewer rows than ranks.
Share make_share(const Observations& observations, const Ranks& ranks);

/// These rows of the data, which are not copied.
Observations rows_of(const Observations& observations, Index first, Index last);

/// What a place for some of the rows refers to.
struct Part {
  Share share;
  Problem problem;  ///< of these rows
};

}  // namespace tracenorm::distributed
