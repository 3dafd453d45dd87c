#include "model/shared_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/among_ranks.hpp"

namespace tracenorm {

namespace {

std::size_t at(Offset index) { return static_cast<std::size_t>(index); }

/// Rows, entry by entry, from where they are to where they shall be.
class Dealing {
 public:
  Dealing(const std::vector<Index>& from, const SharedRows& to) : ranks_(to.ranks()) {
    const std::vector<Index>& cuts = to.share().cuts;
    const Index first = from[at(ranks_.rank())];
    const Index last = from[at(ranks_.rank()) + 1];
    for (int r = 0; r < ranks_.size(); ++r) {
      const Index begin = std::clamp(cuts[at(r)], first, last);
      const Index end = std::clamp(cuts[at(r) + 1], first, last);
      counts_.push_back(at(to.begin()[at(end)] - to.begin()[at(begin)]));
    }
  }
  template <class Number>
  [[nodiscard]] Array<Number> deal(const Number* numbers, std::size_t count) const {
    return Array<Number>(traded(std::span<const Number>(numbers, count), counts_, ranks_));
  }
  /// As everybody keeps them: a rank without entries could not tell how wide they are.
  template <class Column>
  [[nodiscard]] Columns deal_columns(const SparsePattern& pattern) const {
    std::vector<Column> columns(at(pattern.entries()));
    pattern.col().visit([&](const auto* col) { std::copy_n(col, columns.size(), columns.begin()); });
    return deal(columns.data(), columns.size());
  }

 private:
  Ranks& ranks_;
  std::vector<std::size_t> counts_;
};

}  // namespace

SharedRows::SharedRows(std::vector<Offset> begin, std::vector<Offset> in_columns, Ranks& ranks)
    : begin_(std::move(begin)),
      in_columns_(std::move(in_columns)),
      share_(make_share(cut_shards(rows(), static_cast<Index>(in_columns_.size()), entries(), begin_.data()), ranks)),
      sums_(std::make_unique<RankSums>(share_.shard_cuts, ranks)),
      ranks_(ranks) {}

Shards shards_of(const SparseObservations& data) {
  if (data.shared) return data.shared->shards();
  const SparsePattern& pattern = data.pattern;
  return Shards(cut_shards(pattern.rows(), pattern.cols(), pattern.entries(), pattern.begin()));
}

SparseObservations share_rows(SparseObservations mine, Ranks& ranks) {
  mine.shared = nullptr;
  const SparsePattern pattern = mine.pattern;
  Counts counts = count_observed(mine, 1);
  std::vector<Offset> begin = gathered(std::span<const Offset>(counts.row), ranks);
  begin.insert(begin.begin(), 0);
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  add_up_counts(std::span(counts.col), ranks);
  std::vector<Index> from = gathered(std::vector<Index>{pattern.rows()}, &ranks);
  from.insert(from.begin(), 0);
  std::partial_sum(from.begin(), from.end(), from.begin());
  const auto shared = std::make_shared<SharedRows>(std::move(begin), std::move(counts.col), ranks);
  SparseObservations out;
  if (from != shared->share().cuts) {
    const Dealing dealing(from, *shared);
    const Share& share = shared->share();
    std::vector<Offset> here(shared->begin().begin() + share.first(), shared->begin().begin() + share.last() + 1);
    for (Offset& place : here) place -= shared->first_entry();
    const bool narrow = pattern.cols() <= std::numeric_limits<ShortIndex>::max() + 1;
    const Columns col = narrow ? dealing.deal_columns<ShortIndex>(pattern) : dealing.deal_columns<Index>(pattern);
    out.pattern = SparsePattern::unchecked(share.rows(), pattern.cols(), std::move(here), col);
    out.value = dealing.deal(mine.value.data(), mine.value.size());
    const bool weighted = total_count<Offset>(mine.weight.empty() ? 0 : 1, &ranks) > 0;
    if (weighted) out.weight = dealing.deal(mine.weight.data(), mine.weight.size());
  } else {
    out = std::move(mine);
  }
  out.shared = shared;
  return out;
}

SparseObservations make_shared(Index first, Index last, Index cols, Entries entries, const std::vector<Real>& weight,
                               int threads, Ranks& ranks) {
  for (Index& row : entries.row) row -= first;
  SparseObservations mine = make_sparse(last - first, cols, entries, weight, threads);
  entries = {};
  return share_rows(std::move(mine), ranks);
}

Entries entries_here(const Entries& all, const SharedRows& shared, std::vector<std::size_t>& which) {
  Entries here;
  which.clear();
  for (std::size_t e = 0; e < all.row.size(); ++e) {
    if (!shared.share().owns(all.row[e])) continue;
    here.row.push_back(all.row[e]);
    here.col.push_back(all.col[e]);
    here.value.push_back(all.value[e]);
    which.push_back(e);
  }
  return here;
}

}  // namespace tracenorm
