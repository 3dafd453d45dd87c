// What a run ran on: goes into every result, so that a number can be traced to a build.
#pragma once

#include <cstdint>

#include "tracenorm/run.hpp"

namespace tracenorm {

Environment environment(int threads, std::uint64_t seed);

}  // namespace tracenorm
