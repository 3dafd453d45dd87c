// X at held-out places, in the host's memory.
#pragma once

#include <optional>
#include <vector>

#include "base/execution.hpp"
#include "base/shards.hpp"
#include "base/sums.hpp"
#include "seam/entry_store.hpp"
#include "tracenorm/loss.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm::cpu {

class CpuHeldOut {
 public:
  /// The entries must outlive it. Sums are made by shards of rows.
  void watch(const Entries& entries, Shards shards);
  void load(const FactorView& x, const Execution& execution);
  /// Samples a target that is no atom, and one that is scale * (x - term).
  void aim(const Product& target, const Execution& execution);
  void aim_without(const Product& term, double scale);
  /// To an atom, and to what was sampled.
  void move(const Product& atom, double t, const Execution& execution);
  void move(double t);
  void exchange(Exchange state);
  [[nodiscard]] HeldOutSums sums(const Loss& loss, const Execution& execution) const;

 private:
  const Entries* entries_ = nullptr;
  std::optional<Shards> shards_;
  std::vector<std::size_t> by_shard_;     // the entries in the order of shards; empty: as they are
  std::vector<std::size_t> shard_begin_;  // where in that order those of a shard begin
  std::vector<Real> x_;
  std::vector<Real> target_;
  mutable std::vector<HeldOutSums> parts_;  // by shard
};

}  // namespace tracenorm::cpu
