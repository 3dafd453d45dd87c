#include "base/rank_share.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace tracenorm {

namespace {

/// By so much of a rank's share the shares may differ from even ones, at either end.
constexpr double kSlack = 1.0 / 32;

}  // namespace

Share make_share(ShardCuts shards, const Ranks& ranks) {
  // Where two ranks part, branches of the tree of shards end whose sums must travel: the fewer, the rounder the number.
  const double units = static_cast<double>(shards.count()) / shards.together;  // the last may be a part of one
  const auto twos = [](int number) { return number == 0 ? 32 : std::countr_zero(static_cast<unsigned>(number)); };
  Share share{{0}, ranks.rank(), std::move(shards), {0}};
  for (int r = 1; r <= ranks.size(); ++r) {
    const double even = units * r / ranks.size();
    const double slack = kSlack * units / ranks.size();
    int cut = static_cast<int>(std::lround(even));
    for (int near = static_cast<int>(std::ceil(even - slack)); near <= even + slack; ++near) {
      if (twos(near) > twos(cut)) cut = near;
    }
    const int shard = std::min(share.shards.count(), cut * share.shards.together);
    share.shard_cuts.push_back(r == ranks.size() ? share.shards.count() : std::max(shard, share.shard_cuts.back()));
    share.cuts.push_back(share.shards.rows[static_cast<std::size_t>(share.shard_cuts.back())]);
  }
  return share;
}

Shards shards_of(const Share& share, OtherShards& others) {
  const auto rank = static_cast<std::size_t>(share.rank);
  const int first = share.shard_cuts[rank];
  ShardCuts here{{}, share.shards.together};
  for (int s = first; s <= share.shard_cuts[rank + 1]; ++s) {
    here.rows.push_back(share.shards.rows[static_cast<std::size_t>(s)] - share.first());
  }
  return {std::move(here), first, share.shards.count(), others};
}

}  // namespace tracenorm
