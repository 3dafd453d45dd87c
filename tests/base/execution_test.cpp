// Every shard of every pass runs exactly once and within its pass, also when passes of different sizes follow closely.
#include "base/execution.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tracenorm {
namespace {

TEST(Execution, EveryShardRunsOnceWithinItsPass) {
  const Execution execution(4);
  constexpr int kMost = 16;
  std::vector<std::atomic<int>> runs(kMost);
  std::atomic<int> work{0};
  for (int pass = 0; pass < 20000; ++pass) {
    const int shards = 2 + (pass * 7) % (kMost - 1);
    for (auto& count : runs) count.store(0, std::memory_order_relaxed);
    execution.for_each_shard(shards, [&](int shard) {
      for (int spin = 0; spin < 200; ++spin) work.fetch_add(1, std::memory_order_relaxed);  // so that workers join
      runs[static_cast<std::size_t>(shard)].fetch_add(1);
    });
    for (int shard = 0; shard < kMost; ++shard) {
      ASSERT_EQ(runs[static_cast<std::size_t>(shard)].load(), shard < shards ? 1 : 0) << "pass " << pass;
    }
  }
}

}  // namespace
}  // namespace tracenorm
