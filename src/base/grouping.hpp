// Puts elements in the order of their groups on all threads: a stable counting sort, cut by the data alone.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/execution.hpp"

namespace tracenorm {

/// `Group` is how groups are numbered.
template <class Group>
class Grouping {
 public:
  /// `group` says where each element belongs, from 0 to groups - 1, and must outlive the object.
  Grouping(std::span<const Group> group, Index groups, const Execution& execution)
      : group_(group), execution_(execution) {
    const auto elements = static_cast<Offset>(group.size());
    const auto counters = static_cast<std::size_t>(groups);
    shards_ = static_cast<int>(std::clamp<Offset>(elements / (kElementsPerCounter * (Offset(groups) + 1)), 1, kMost));
    counts_.assign(counters * static_cast<std::size_t>(shards_), 0);
    execution.for_each_shard(shards_, [&](int s) {
      Offset* count = counts_of(s);
      for (Offset e = first(s); e < first(s + 1); ++e) ++count[group_[static_cast<std::size_t>(e)]];
    });
    begin_.assign(counters + 1, 0);
    for (std::size_t g = 0; g < counters; ++g) {
      Offset place = begin_[g];
      for (int s = 0; s < shards_; ++s) {
        Offset& count = counts_of(s)[g];
        place += std::exchange(count, place);
      }
      begin_[g + 1] = place;
    }
  }

  /// Where the elements of each group begin, and where the last ends.
  [[nodiscard]] std::vector<Offset>& begin() { return begin_; }
  [[nodiscard]] const std::vector<Offset>& begin() const { return begin_; }

  /// work(element, its place), once for every element, possibly at once; to be called once.
  template <class Work>
  void place(Work&& work) {
    execution_.for_each_shard(shards_, [&](int s) {
      Offset* next = counts_of(s);
      for (Offset e = first(s); e < first(s + 1); ++e) {
        work(static_cast<std::size_t>(e), static_cast<std::size_t>(next[group_[static_cast<std::size_t>(e)]]++));
      }
    });
  }

 private:
  /// More shards than this help nobody; fewer where their counters would need more memory than a byte an element.
  static constexpr Offset kMost = 64;
  static constexpr Offset kElementsPerCounter = 8;

  [[nodiscard]] Offset first(int shard) const { return static_cast<Offset>(group_.size()) * shard / shards_; }
  [[nodiscard]] Offset* counts_of(int shard) {
    return counts_.data() + static_cast<std::size_t>(shard) * (counts_.size() / static_cast<std::size_t>(shards_));
  }

  std::span<const Group> group_;
  const Execution& execution_;
  int shards_ = 1;
  std::vector<Offset> counts_;  // of each shard: how many elements of each group, then where the next one goes
  std::vector<Offset> begin_;
};

}  // namespace tracenorm
