// Which rows are whose: whole shards in the order of ranks, about equally many entries in each.
#pragma once

#include <utility>
#include <vector>

#include "base/shards.hpp"
#include "distributed/rank_sums.hpp"
#include "tracenorm/problem.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm::distributed {

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

/// These rows of the data, which are not copied.
Observations rows_of(const Observations& observations, Index first, Index last);

/// What a place for some of the rows refers to.
struct Part {
  Part(Share whose, const Problem& of_rows, Ranks& ranks)
      : share(std::move(whose)), problem(of_rows), sums(share.shard_cuts, ranks) {}
  Share share;
  Problem problem;  ///< of these rows
  RankSums sums;
};

}  // namespace tracenorm::distributed
