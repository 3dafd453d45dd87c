// What a run may use of the machine. Parallel work is "for each shard": shards are cut by the data alone, never by the
// number of threads, and sums over shards are added in shard order, so the bits are the same on 1, 2 or 16 threads.
// This file and execution.cpp are the only ones that know threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "tracenorm/types.hpp"

namespace tracenorm {

class Execution {
 public:
  /// Zero threads means all cores. Threads are started when first needed, as many as the machine gives, and end with
  /// this object. A forked process starts its own.
  explicit Execution(int threads = 0);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  [[nodiscard]] int threads() const { return threads_; }

  /// Calls work(shard) for shard = 0..shards-1, possibly at once. What work throws comes out of here once
  /// all shards that were begun are done; of several, one. Allocates nothing.
  template <class Work>
  void for_each_shard(int shards, Work&& work) const {
    using Plain = std::remove_reference_t<Work>;
    run(
        shards, [](void* context, int shard) { (*static_cast<Plain*>(context))(shard); },
        const_cast<void*>(static_cast<const void*>(std::addressof(work))));
  }

  /// work(first, count) for blocks of `block` of the numbers 0..size-1, possibly at once.
  template <class Work>
  void for_each_block(Offset size, Offset block, Work&& work) const {
    for_each_shard(static_cast<int>((size + block - 1) / block), [&](int b) {
      const Offset first = b * block;
      work(first, block < size - first ? block : size - first);
    });
  }

 private:
  using ShardFunction = void (*)(void* context, int shard);
  class Crew;
  void run(int shards, ShardFunction function, void* context) const;
  [[nodiscard]] Crew& crew() const;

  int threads_;
  mutable std::atomic<Crew*> crew_{nullptr};  // null with one thread; another one after a fork
};

/// Rows cut into ranges of about equal mass, [cuts[s], cuts[s+1]) each. The cut depends on the data alone: `begin` says
/// where the entries of a row begin (null: all rows are equally long), `outputs` how many numbers a range writes beside
/// its entries.
std::vector<Index> cut_rows(Index rows, Offset entries, const Offset* begin, Index outputs = 0);
/// The same into about as many ranges as wanted.
std::vector<Index> cut_rows_into(Offset wanted, Index rows, Offset entries, const Offset* begin);

}  // namespace tracenorm
