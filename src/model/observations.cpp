#include "tracenorm/observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/among_ranks.hpp"
#include "base/block_sums.hpp"
#include "base/fingerprint.hpp"
#include "base/grouping.hpp"
#include "base/least.hpp"
#include "model/entry_checks.hpp"
#include "model/shared_rows.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

std::size_t at(Offset index) { return static_cast<std::size_t>(index); }

/// Ranges of rows for work that is not summed.
std::vector<Index> many_cuts(Index rows, const std::vector<Offset>& begin) {
  constexpr Offset most = 256;
  constexpr Offset least_entries = 4096;
  return cut_rows_into(std::clamp<Offset>(begin.back() / least_entries, 1, most), rows, begin.back(), begin.data());
}

// A counting sort into rows, then a sort of the columns inside each row.
template <class Column>
SparseObservations sort_into_rows(Index rows, Index cols, const Entries& entries, const std::vector<Real>& weight,
                                  const Execution& execution) {
  const std::size_t count = entries.row.size();
  std::vector<Column> col(count);
  std::vector<Real> value(count);
  std::vector<Real> sorted_weight(weight.size());
  std::vector<Offset> begin;
  {
    Grouping<Index> by_row(entries.row, rows, execution);
    by_row.place([&](std::size_t e, std::size_t to) {
      col[to] = static_cast<Column>(entries.col[e]);
      value[to] = entries.value[e];
      if (!weight.empty()) sorted_weight[to] = weight[e];
    });
    begin = std::move(by_row.begin());
  }
  struct Cell {
    Column col;
    Real value;
    Real weight;
  };
  const std::vector<Index> cuts = many_cuts(rows, begin);
  Least twice;  // the first entry that has the place of the one before it
  execution.for_each_shard(static_cast<int>(cuts.size()) - 1, [&](int s) {
    std::vector<Cell> row;
    for (Index i = cuts[at(s)]; i < cuts[at(s) + 1]; ++i) {
      const std::size_t from = at(begin[at(i)]);
      const std::size_t to = at(begin[at(i) + 1]);
      row.clear();
      for (std::size_t e = from; e < to; ++e) {
        row.push_back({col[e], value[e], weight.empty() ? Real(1) : sorted_weight[e]});
      }
      std::sort(row.begin(), row.end(), [](const Cell& a, const Cell& b) { return a.col < b.col; });
      for (std::size_t e = from; e < to; ++e) {
        const Cell& cell = row[e - from];
        if (e > from && cell.col == col[e - 1]) twice.meet(Offset(e));
        col[e] = cell.col;
        value[e] = cell.value;
        if (!weight.empty()) sorted_weight[e] = cell.weight;
      }
    }
  });
  if (twice.value() != Least::none) {
    const auto row = std::upper_bound(begin.begin(), begin.end(), twice.value()) - begin.begin() - 1;
    throw Error(ErrorCode::input,
                fmt::format("row {}, column {} is given twice; give each entry once", row, col[at(twice.value())]));
  }
  return {SparsePattern::unchecked(rows, cols, std::move(begin), Array<Column>(std::move(col))), std::move(value),
          std::move(sorted_weight)};
}

bool lacks_weights(const SparseObservations& data) { return data.weight.empty() && data.pattern.entries() > 0; }

template <class Column, class A, class B>
SparseObservations merge_rows(const SparseObservations& a, const A* a_col, const SparseObservations& b, const B* b_col,
                              const Execution& execution) {
  const Index rows = a.pattern.rows();
  const bool weighted = !a.weight.empty() || !b.weight.empty();
  std::vector<Offset> begin(at(rows) + 1);
  for (Index i = 0; i <= rows; ++i) begin[at(i)] = a.pattern.begin()[i] + b.pattern.begin()[i];
  std::vector<Column> col(at(begin.back()));
  std::vector<Real> value(col.size());
  std::vector<Real> weight(weighted ? col.size() : 0);
  const std::vector<Index> cuts = many_cuts(rows, begin);
  execution.for_each_shard(static_cast<int>(cuts.size()) - 1, [&](int s) {
    std::size_t to = at(begin[at(cuts[at(s)])]);
    const auto take = [&](const SparseObservations& from, const auto* columns, Offset e) {
      col[to] = static_cast<Column>(columns[e]);
      value[to] = from.value[at(e)];
      if (weighted) weight[to] = from.weight[at(e)];
      ++to;
    };
    for (Index i = cuts[at(s)]; i < cuts[at(s) + 1]; ++i) {
      Offset first = a.pattern.begin()[i];
      Offset second = b.pattern.begin()[i];
      const Offset first_end = a.pattern.begin()[i + 1];
      const Offset second_end = b.pattern.begin()[i + 1];
      while (first < first_end || second < second_end) {
        if (second == second_end || (first < first_end && a_col[first] < b_col[second])) {
          take(a, a_col, first++);
        } else {
          take(b, b_col, second++);
        }
      }
    }
  });
  return {SparsePattern::unchecked(rows, a.pattern.cols(), std::move(begin), Array<Column>(std::move(col))),
          std::move(value), std::move(weight)};
}

}  // namespace

SparseObservations make_sparse(Index rows, Index cols, const Entries& entries, const std::vector<Real>& weight,
                               int threads) {
  const auto count = static_cast<std::size_t>(entries.size());
  if (entries.col.size() != count || entries.value.size() != count || (!weight.empty() && weight.size() != count)) {
    throw Error(ErrorCode::input,
                fmt::format("{} rows, {} columns, {} values, {} weights: the lists must be equally long", count,
                            entries.col.size(), entries.value.size(), weight.size()));
  }
  const Execution execution(threads);
  require_inside(rows, cols, entries, execution);
  return cols <= std::numeric_limits<ShortIndex>::max() + 1
             ? sort_into_rows<ShortIndex>(rows, cols, entries, weight, execution)
             : sort_into_rows<Index>(rows, cols, entries, weight, execution);
}

SparseObservations unite(const SparseObservations& a, const SparseObservations& b, int threads) {
  const bool weighted = !a.weight.empty() || !b.weight.empty();
  if (a.pattern.rows() != b.pattern.rows() || a.pattern.cols() != b.pattern.cols() ||
      (weighted && (lacks_weights(a) || lacks_weights(b)))) {
    throw Error(ErrorCode::usage,
                "observations can be united when both have the same size, and both weights or neither");
  }
  if (a.shared) {  // with more of the rows here
    SparseObservations here = a;
    here.shared = nullptr;
    return share_rows(unite(here, b, threads), a.shared->ranks());
  }
  const Execution execution(threads);
  const bool narrow = a.pattern.cols() <= std::numeric_limits<ShortIndex>::max() + 1;
  return a.pattern.col().visit([&](const auto* a_col) {
    return b.pattern.col().visit([&](const auto* b_col) {
      return narrow ? merge_rows<ShortIndex>(a, a_col, b, b_col, execution)
                    : merge_rows<Index>(a, a_col, b, b_col, execution);
    });
  });
}

DenseObservations make_dense(const SparseObservations& sparse, double limit_bytes) {
  const Index rows = sparse.pattern.rows();
  const Index cols = sparse.pattern.cols();
  const double bytes = 3.0 * static_cast<double>(rows) * static_cast<double>(cols) * sizeof(Real);
  if (bytes > limit_bytes) {
    throw Error(
        ErrorCode::input,
        fmt::format("an l1 penalty makes the problem dense: {} x {} needs {:.1f} GB, more than the {:.1f} GB allowed",
                    rows, cols, bytes / 1e9, limit_bytes / 1e9));
  }
  const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  std::vector<Real> value(size, std::numeric_limits<Real>::quiet_NaN());
  std::vector<Real> weight(sparse.weight.empty() ? 0 : size, Real(1));
  for (Index i = 0; i < rows; ++i) {
    for (Offset e = sparse.pattern.begin()[i]; e < sparse.pattern.begin()[i + 1]; ++e) {
      const std::size_t to = static_cast<std::size_t>(i) * static_cast<std::size_t>(cols) +
                             static_cast<std::size_t>(sparse.pattern.col()[e]);
      value[to] = sparse.value[static_cast<std::size_t>(e)];
      if (!sparse.weight.empty()) weight[to] = sparse.weight[static_cast<std::size_t>(e)];
    }
  }
  return {rows, cols, std::move(value), std::move(weight)};
}

Index rows(const Observations& observations) {
  if (const auto* sparse = std::get_if<SparseObservations>(&observations))
    return sparse->shared ? sparse->shared->rows() : sparse->pattern.rows();
  return std::get<DenseObservations>(observations).rows;
}

Index cols(const Observations& observations) {
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) return sparse->pattern.cols();
  return std::get<DenseObservations>(observations).cols;
}

Offset observed(const Observations& observations) {
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) return all_entries(*sparse);
  const auto& value = std::get<DenseObservations>(observations).value;
  if (!value.code().empty()) {
    return Offset(value.size()) - std::count(value.code().begin(), value.code().end(), DenseValues::kMissing);
  }
  const Array<Real> plain = value.plain();
  return std::count_if(plain.begin(), plain.end(), [](Real y) { return !std::isnan(y); });
}

Counts count_observed(const Observations& observations, int threads) {
  Counts counts{std::vector<Offset>(at(rows(observations)), 0), std::vector<Offset>(at(cols(observations)), 0)};
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) {
    if (sparse->shared) {
      std::adjacent_difference(sparse->shared->begin().begin() + 1, sparse->shared->begin().end(), counts.row.begin());
      counts.col = sparse->shared->in_columns();
      return counts;
    }
    const SparsePattern& pattern = sparse->pattern;
    for (Index i = 0; i < pattern.rows(); ++i) counts.row[at(i)] = pattern.begin()[i + 1] - pattern.begin()[i];
    const Execution execution(threads);
    pattern.col().visit([&]<class Column>(const Column* col) {
      const Grouping<Column> columns({col, at(pattern.entries())}, pattern.cols(), execution);
      for (std::size_t j = 0; j < counts.col.size(); ++j) counts.col[j] = columns.begin()[j + 1] - columns.begin()[j];
    });
    return counts;
  }
  const auto& dense = std::get<DenseObservations>(observations);
  auto value = dense.value.begin();
  for (Index i = 0; i < dense.rows; ++i) {
    for (Index j = 0; j < dense.cols; ++j) {
      if (std::isnan(*value++)) continue;
      ++counts.row[at(i)];
      ++counts.col[at(j)];
    }
  }
  return counts;
}

namespace {

/// The numbers, however they are kept: codes decode to +0 and to one NaN, whatever zeros and NaNs they were made of.
void add(Fingerprint& sum, const DenseValues& value) {
  constexpr std::size_t kBlock = 4096;
  std::vector<Real> block;
  for (std::size_t from = 0; from < value.size(); from += kBlock) {
    block.clear();
    for (std::size_t e = from; e < std::min(value.size(), from + kBlock); ++e) {
      const Real y = value[e];
      block.push_back(std::isnan(y) ? std::numeric_limits<Real>::quiet_NaN() : y == 0 ? Real(0) : y);
    }
    sum.add_all(block);
  }
}

}  // namespace

std::uint64_t fingerprint(const Observations& observations) {
  Fingerprint sum;
  if (const auto* dense = std::get_if<DenseObservations>(&observations)) {
    sum.add_all(std::vector<Index>{dense->rows, dense->cols});
    add(sum, dense->value);
    sum.add_all(dense->weight);
    return sum.value();
  }
  // Row by row, so that whoever has a row may add it.
  const auto& sparse = std::get<SparseObservations>(observations);
  const SparsePattern& pattern = sparse.pattern;
  std::uint64_t all = 0;
  for (Index i = 0; i < pattern.rows(); ++i) {
    const std::size_t first = at(pattern.begin()[i]);
    const std::size_t count = at(pattern.begin()[i + 1]) - first;
    Fingerprint row;
    row.add_all(std::vector<Index>{first_row(sparse) + i});
    pattern.col().visit([&](const auto* col) { row.add(col + first, count * sizeof(*col)); });
    row.add(sparse.value.data() + first, count * sizeof(Real));
    if (!sparse.weight.empty()) row.add(sparse.weight.data() + first, count * sizeof(Real));
    all += row.value();
  }
  sum.add_all(std::vector<Index>{rows(observations), cols(observations)});
  sum.add_all(std::vector<std::uint64_t>{total_count(all, ranks_of(sparse))});
  return sum.value();
}

std::uint64_t fingerprint(const Entries& entries) {
  Fingerprint sum;
  sum.add_all(entries.row);
  sum.add_all(entries.col);
  sum.add_all(entries.value);
  return sum.value();
}

}  // namespace tracenorm
