#include "methods/environment.hpp"

#include <algorithm>

#include "base/execution.hpp"
#include "kernels/kernels.hpp"
#include "tracenorm/ranks.hpp"
#include "tracenorm/version.hpp"

namespace tracenorm {

Environment environment(int threads, std::uint64_t seed) {
  return {TRACENORM_VERSION, "g++ " __VERSION__, std::string(kernels::to_string(kernels::selected())), threads, seed};
}

int threads_of(const RunOptions& run, const RunHooks& hooks) {
  if (hooks.ranks == nullptr || run.threads > 0) return run.threads;
  return std::max(1, Execution(0).threads() / hooks.ranks->neighbours());
}

}  // namespace tracenorm
