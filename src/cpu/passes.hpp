// How the passes of a CPU store are put together: shards, losses, sums in shard order. Private to the store's files.
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

template <class Work>
EntrySums CpuStore::sum_over_shards(Work&& work) const {
  execution_.for_each_shard(shards(), [&](int s) {
    EntrySums& part = parts_[static_cast<std::size_t>(s)];
    part = work(s, shard_begin(s), shard_begin(s + 1));
    if (doubled(s)) part.twice();
  });
  EntrySums sum;
  for (const EntrySums& part : parts_) sum += part;
  return sum;
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
void CpuStore::add_outputs(const std::vector<Number>& outputs, Index vectors, Number* out) const {
  using Vector = Eigen::Matrix<Number, Eigen::Dynamic, 1>;
  const Offset size = static_cast<Offset>(facts_.cols) * vectors;
  execution_.for_each_block(size, kColumnBlock * vectors, [&](Offset first, Offset count) {
    Eigen::Map<Vector> sum(out + first, count);
    sum = Eigen::Map<const Vector>(outputs.data() + first, count);
    for (int s = 1; s < shards(); ++s) sum += Eigen::Map<const Vector>(outputs.data() + s * size + first, count);
  });
}

}  // namespace tracenorm::cpu
