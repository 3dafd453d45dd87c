// How the passes of a CPU store are put together: shards, losses, sums. Private to the store's files.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/store.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm::cpu {

/// Sums over shards are made for this many columns at a time.
inline constexpr Index kColumnBlock = 512;

/// Slopes of this many entries, and what they are made from, stay in the second cache.
inline constexpr Offset kBlockEntries = 16384;

/// Passes over fewer entries are over before another thread is awake.
inline constexpr Offset kWorthThreads = 32768;

template <class Work>
void CpuStore::for_each_shard(int shards, Work&& work) const {
  if (layout_->entries() >= kWorthThreads) return execution_.for_each_shard(shards, work);
  for (int s = 0; s < shards; ++s) work(s);
}

template <class Work>
EntrySums CpuStore::sum_over_shards(Work&& work) const {
  for_each_shard([&](int s) {
    EntrySums& part = parts_[static_cast<std::size_t>(s)];
    part = work(s, shard_begin(s), shard_begin(s + 1));
    if (doubled(s)) part.twice();
  });
  return shards_->add_up(parts_);
}

template <class Work>
decltype(auto) CpuStore::visit_loss(Work&& work) const {
  return visit_kernels(loss_, mode_, weight_ != nullptr, work);
}

template <class Work>
void CpuStore::for_row_blocks(int shard, Work&& work) const {
  constexpr Index rows_at_once = 8;  // of the dense kernel
  const auto [begin, end] = shard_rows(shard);
  for (Index first = begin; first < end;) {
    Index last = first;
    while (last < end && layout_->row_begin(last) - layout_->row_begin(first) < kBlockEntries) {
      last = std::min(end, last + rows_at_once);
    }
    work(RowRange{first, last});
    first = last;
  }
}

template <class Number>
void CpuStore::add_outputs(std::vector<Number>& outputs, Index vectors, Number* out) const {
  shards_->add_up(outputs.data(), static_cast<Offset>(facts_.cols) * vectors, out, execution_, kColumnBlock * vectors);
}

}  // namespace tracenorm::cpu
