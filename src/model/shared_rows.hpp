// Data whose rows are shared among ranks: each holds those of its shards, and of the others only how many entries they
// have.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/rank_share.hpp"
#include "base/rank_sums.hpp"
#include "tracenorm/observations.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm {

/// What every rank knows of the whole. Kept by the data (`SparseObservations::shared`), whose pattern has the rows here
/// alone, numbered from 0.
class SharedRows {
 public:
  /// `begin` says where the entries of each row of the whole begin. The ranks must outlive it.
  SharedRows(std::vector<Offset> begin, std::vector<Offset> in_columns, Ranks& ranks);

  [[nodiscard]] Index rows() const { return static_cast<Index>(begin_.size()) - 1; }
  [[nodiscard]] Offset entries() const { return begin_.back(); }
  [[nodiscard]] const std::vector<Offset>& begin() const { return begin_; }
  [[nodiscard]] const std::vector<Offset>& in_columns() const { return in_columns_; }
  [[nodiscard]] const Share& share() const { return share_; }
  /// The number, among all, of the first entry here.
  [[nodiscard]] Offset first_entry() const { return begin_[static_cast<std::size_t>(share_.first())]; }
  [[nodiscard]] Ranks& ranks() const { return ranks_; }
  /// Those of the data, with sums over all of them.
  [[nodiscard]] Shards shards() const { return shards_of(share_, *sums_); }

 private:
  std::vector<Offset> begin_;
  std::vector<Offset> in_columns_;
  Share share_;
  std::unique_ptr<RankSums> sums_;
  Ranks& ranks_;
};

/// Null where all rows are here.
inline Ranks* ranks_of(const SparseObservations& data) { return data.shared ? &data.shared->ranks() : nullptr; }
/// The number, among all, of the first row here, and of the first entry.
inline Index first_row(const SparseObservations& data) { return data.shared ? data.shared->share().first() : 0; }
inline Offset first_entry(const SparseObservations& data) { return data.shared ? data.shared->first_entry() : 0; }
/// How many entries there are, here and elsewhere.
inline Offset all_entries(const SparseObservations& data) {
  return data.shared ? data.shared->entries() : data.pattern.entries();
}

/// Where the shards of data without a penalty are cut.
Shards shards_of(const SparseObservations& data);

/// Every rank has some rows, in the order of ranks; they go to those who have them by the shards of the whole.
SparseObservations share_rows(SparseObservations mine, Ranks& ranks);

/// The entries of rows [first, last), which are here, with rows as the whole numbers them; those of others are with
/// them.
SparseObservations make_shared(Index first, Index last, Index cols, Entries entries, const std::vector<Real>& weight,
                               int threads, Ranks& ranks);

/// Those of a list of entries that this rank has the rows of, in their order; numbers of the list go to `which`.
Entries entries_here(const Entries& all, const SharedRows& shared, std::vector<std::size_t>& which);

}  // namespace tracenorm
