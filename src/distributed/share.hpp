// The rows of a problem that one rank has.
#pragma once

#include <utility>

#include "base/rank_share.hpp"
#include "base/rank_sums.hpp"
#include "tracenorm/problem.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm::distributed {

/// These rows of the data, which are not copied.
Observations rows_of(const Observations& observations, Index first, Index last);

/// Of data that are shared already.
Observations rows_here(SparseObservations data);

/// What a place for some of the rows refers to.
struct Part {
  Part(Share whose, const Problem& of_rows, Ranks& ranks)
      : share(std::move(whose)), problem(of_rows), sums(share.shard_cuts, ranks) {}
  Share share;
  Problem problem;  ///< of these rows
  RankSums sums;
};

}  // namespace tracenorm::distributed
