// Which rows are whose: whole shards in the order of ranks, about equally many entries in each.
#pragma once

#include <vector>

#include "base/shards.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm {

struct Share {
  std::vector<Index> cuts;  ///< rows of rank r: [cuts[r], cuts[r+1])
  int rank = 0;
  ShardCuts shards;             ///< of all rows
  std::vector<int> shard_cuts;  ///< shards of rank r, likewise

  [[nodiscard]] Index first() const { return cuts[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Index last() const { return cuts[static_cast<std::size_t>(rank) + 1]; }
  [[nodiscard]] Index rows() const { return last() - first(); }
  [[nodiscard]] Index all_rows() const { return cuts.back(); }
  [[nodiscard]] bool owns(Index row) const { return row >= first() && row < last(); }
};

/// Ranks have nothing where there are fewer shards than ranks.
Share make_share(ShardCuts shards, const Ranks& ranks);
/// Those of this rank, numbered from its first row.
Shards shards_of(const Share& share, OtherShards& others);

}  // namespace tracenorm
