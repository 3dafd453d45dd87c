// Parallel work is "for each shard". Shards are cut by the data alone, never by the number of threads, and sums over
// shards are added in shard order: the same bits on 1, 2 or 16 threads. This file and parallel.cpp are the only ones
// that know threads.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace tracenorm {

/// Threads for the parallel loops started from this thread, from here on; 0 means all cores.
void set_threads(int threads);
int get_threads();

namespace detail {
using ShardFunction = void (*)(void* context, int shard);
void run_shards(int shards, ShardFunction function, void* context);
}  // namespace detail

/// Calls work(shard) for shard = 0..shards-1, possibly at once. Work must not throw. Allocates nothing.
template <class Work>
void for_each_shard(int shards, Work&& work) {
  using Plain = std::remove_reference_t<Work>;
  detail::run_shards(
      shards, [](void* context, int shard) { (*static_cast<Plain*>(context))(shard); },
      const_cast<void*>(static_cast<const void*>(std::addressof(work))));
}

}  // namespace tracenorm
