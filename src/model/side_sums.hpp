// Sums over the entries of each row and of each column on all threads, the same bits on any number of them, and of
// ranks that share the rows: what is said of a row has its number among all.
#pragma once

#include <algorithm>
#include <vector>

#include "base/among_ranks.hpp"
#include "base/block_sums.hpp"
#include "base/execution.hpp"
#include "base/shards.hpp"
#include "model/shared_rows.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm {

/// Entries by rows: those of row i are begin[i] to begin[i + 1], each with its column. Columns need not ascend.
template <class Column>
struct EntriesByRow {
  Index rows;
  Index cols;
  const Offset* begin;
  const Column* col;
  const SharedRows* shared = nullptr;  ///< where these are some of the rows

  [[nodiscard]] Offset entries() const { return begin[rows]; }
  [[nodiscard]] Ranks* ranks() const { return shared != nullptr ? &shared->ranks() : nullptr; }
  [[nodiscard]] Index first_row() const { return shared != nullptr ? shared->share().first() : 0; }
  [[nodiscard]] Offset first_entry() const { return shared != nullptr ? shared->first_entry() : 0; }
  [[nodiscard]] Index all_rows() const { return shared != nullptr ? shared->rows() : rows; }
  [[nodiscard]] Offset all_entries() const { return shared != nullptr ? shared->entries() : entries(); }
  [[nodiscard]] Shards shards() const {
    return shared != nullptr ? shared->shards() : Shards(cut_shards(rows, cols, entries(), begin));
  }
};

/// work(entries by row) for data.
template <class Work>
decltype(auto) visit_rows(const SparseObservations& data, Work&& work) {
  const SparsePattern& pattern = data.pattern;
  return pattern.col().visit([&]<class Column>(const Column* col) {
    return work(EntriesByRow<Column>{pattern.rows(), pattern.cols(), pattern.begin(), col, data.shared.get()});
  });
}

/// Weighted terms of a row or a column.
struct SideSum {
  double sum = 0;
  double weight = 0;
  SideSum& operator+=(const SideSum& other) {
    sum += other.sum;
    weight += other.weight;
    return *this;
  }
};

template <class Column>
class SideSums {
 public:
  SideSums(const EntriesByRow<Column>& entries, const Execution& execution)
      : at_(entries),
        execution_(execution),
        shards_(entries.shards()),
        cuts_(shards_.cuts()),
        first_(entries.first_row()) {}

  /// How many are here.
  [[nodiscard]] int shards() const { return shards_.count(); }

  /// work(shard, row, column, entry) for every entry: rows of a shard in their order, shards possibly at once.
  template <class Work>
  void for_each(Work&& work) const {
    execution_.for_each_shard(shards(), [&](int s) {
      for (Index i = cuts_[at(s)]; i < cuts_[at(s) + 1]; ++i) {
        for (Offset e = at_.begin[i]; e < at_.begin[i + 1]; ++e)
          work(s, first_ + i, static_cast<Index>(at_.col[e]), at(e));
      }
    });
  }
  /// work(shard, row, its first entry, its last) likewise.
  template <class Work>
  void for_each_row(Work&& work) const {
    execution_.for_each_shard(shards(), [&](int s) {
      for (Index i = cuts_[at(s)]; i < cuts_[at(s) + 1]; ++i) work(s, first_ + i, at_.begin[i], at_.begin[i + 1]);
    });
  }
  /// Adds up what work(row, column, entry, sums) adds to its sums.
  template <std::size_t count, class Work>
  Sums<count> total(Work&& work) const {
    std::vector<Sums<count>> parts(at(shards()));
    execution_.for_each_shard(shards(), [&](int s) {
      Sums<count> part;  // not where others write beside it
      for (Index i = cuts_[at(s)]; i < cuts_[at(s) + 1]; ++i) {
        for (Offset e = at_.begin[i]; e < at_.begin[i + 1]; ++e)
          work(first_ + i, static_cast<Index>(at_.col[e]), at(e), part);
      }
      parts[at(s)] = part;
    });
    return shards_.add_up(parts);
  }
  /// out[i] <- the sum of term(row, column, entry) over the entries of row i, for all rows.
  template <class Term>
  void by_rows(Term&& term, std::vector<SideSum>& out) {
    std::vector<SideSum>& here = at_.ranks() != nullptr ? rows_ : out;
    here.resize(at(at_.rows));
    execution_.for_each_shard(shards(), [&](int s) {
      for (Index i = cuts_[at(s)]; i < cuts_[at(s) + 1]; ++i) {
        SideSum sum;
        for (Offset e = at_.begin[i]; e < at_.begin[i + 1]; ++e)
          sum += term(first_ + i, static_cast<Index>(at_.col[e]), at(e));
        here[at(i)] = sum;
      }
    });
    if (at_.ranks() != nullptr) out = gathered(std::span<const SideSum>(rows_), *at_.ranks());
  }
  /// The same for columns.
  template <class Term>
  void by_cols(Term&& term, std::vector<SideSum>& out) {
    const std::size_t cols = at(at_.cols);
    parts_.assign(cols * at(shards()), SideSum());
    for_each([&](int s, Index i, Index j, std::size_t e) { parts_[at(s) * cols + at(j)] += term(i, j, e); });
    out.resize(cols);
    static_assert(sizeof(SideSum) == 2 * sizeof(double));
    shards_.add_up(numbers(parts_), 2 * static_cast<Offset>(cols), numbers(out), execution_, kBlock);
  }

 private:
  static constexpr Offset kBlock = Offset{1} << 12U;  // columns whose sums are added up at once
  static std::size_t at(Offset index) { return static_cast<std::size_t>(index); }
  /// A rank without rows has no sums.
  static double* numbers(std::vector<SideSum>& sums) { return sums.empty() ? nullptr : &sums.front().sum; }

  EntriesByRow<Column> at_;
  const Execution& execution_;
  Shards shards_;
  const std::vector<Index>& cuts_;
  Index first_;
  std::vector<SideSum> rows_;   // of those here
  std::vector<SideSum> parts_;  // of columns, by shard
};

}  // namespace tracenorm
