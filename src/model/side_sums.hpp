// Sums over the entries of each row and of each column on all threads, the same bits on any number of them.
#pragma once

#include <algorithm>
#include <vector>

#include "base/block_sums.hpp"
#include "base/execution.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm {

/// Entries by rows: those of row i are begin[i] to begin[i + 1], each with its column. Columns need not ascend.
template <class Column>
struct EntriesByRow {
  Index rows;
  Index cols;
  const Offset* begin;
  const Column* col;

  [[nodiscard]] Offset entries() const { return begin[rows]; }
};

/// work(entries by row) for a pattern.
template <class Work>
decltype(auto) visit_rows(const SparsePattern& pattern, Work&& work) {
  return pattern.col().visit([&]<class Column>(const Column* col) {
    return work(EntriesByRow<Column>{pattern.rows(), pattern.cols(), pattern.begin(), col});
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
        cuts_(cut_rows(entries.rows, entries.entries(), entries.begin, entries.cols)) {}

  [[nodiscard]] int shards() const { return static_cast<int>(cuts_.size()) - 1; }

  /// work(shard, row, column, entry) for every entry: rows of a shard in their order, shards possibly at once.
  template <class Work>
  void for_each(Work&& work) const {
    execution_.for_each_shard(shards(), [&](int s) {
      for (Index i = cuts_[at(s)]; i < cuts_[at(s) + 1]; ++i) {
        for (Offset e = at_.begin[i]; e < at_.begin[i + 1]; ++e) work(s, i, static_cast<Index>(at_.col[e]), at(e));
      }
    });
  }
  /// work(shard, row) likewise.
  template <class Work>
  void for_each_row(Work&& work) const {
    execution_.for_each_shard(shards(), [&](int s) {
      for (Index i = cuts_[at(s)]; i < cuts_[at(s) + 1]; ++i) work(s, i);
    });
  }
  /// Adds up what work(row, column, entry, sums) adds to its sums.
  template <std::size_t count, class Work>
  Sums<count> total(Work&& work) const {
    std::vector<Sums<count>> parts(at(shards()));
    execution_.for_each_shard(shards(), [&](int s) {
      Sums<count> part;  // not where others write beside it
      for (Index i = cuts_[at(s)]; i < cuts_[at(s) + 1]; ++i) {
        for (Offset e = at_.begin[i]; e < at_.begin[i + 1]; ++e) work(i, static_cast<Index>(at_.col[e]), at(e), part);
      }
      parts[at(s)] = part;
    });
    Sums<count> sums;
    for (const Sums<count>& part : parts) sums += part;
    return sums;
  }
  /// out[i] <- the sum of term(row, column, entry) over the entries of row i.
  template <class Term>
  void by_rows(Term&& term, std::vector<SideSum>& out) const {
    out.resize(at(at_.rows));
    execution_.for_each_shard(shards(), [&](int s) {
      for (Index i = cuts_[at(s)]; i < cuts_[at(s) + 1]; ++i) {
        SideSum sum;
        for (Offset e = at_.begin[i]; e < at_.begin[i + 1]; ++e) sum += term(i, static_cast<Index>(at_.col[e]), at(e));
        out[at(i)] = sum;
      }
    });
  }
  /// The same for columns.
  template <class Term>
  void by_cols(Term&& term, std::vector<SideSum>& out) {
    const std::size_t cols = at(at_.cols);
    parts_.assign(cols * at(shards()), SideSum());
    for_each([&](int s, Index i, Index j, std::size_t e) { parts_[at(s) * cols + at(j)] += term(i, j, e); });
    out.resize(cols);
    for_each_element(execution_, cols, [&](std::size_t j) {
      SideSum sum;
      for (std::size_t s = 0; s < at(shards()); ++s) sum += parts_[s * cols + j];
      out[j] = sum;
    });
  }

 private:
  static std::size_t at(Offset index) { return static_cast<std::size_t>(index); }

  EntriesByRow<Column> at_;
  const Execution& execution_;
  std::vector<Index> cuts_;
  std::vector<SideSum> parts_;  // of columns, by shard
};

}  // namespace tracenorm
