// Where the rows of a problem are cut into shards: by what is stored of them, whoever stores it.
#pragma once

#include "base/shards.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {

/// Of a problem that is not symmetric.
ShardCuts cut_shards(const Problem& problem);

}  // namespace tracenorm
