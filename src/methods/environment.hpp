// What a run ran on: goes into every result, so that a number can be traced to a build.
#pragma once

#include <cstdint>

#include "tracenorm/run.hpp"

namespace tracenorm {

Environment environment(int threads, std::uint64_t seed);
/// Zero threads are all cores: with several ranks on a machine, a share of them.
int threads_of(const RunOptions& run, const RunHooks& hooks);

}  // namespace tracenorm
