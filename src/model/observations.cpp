#include "tracenorm/observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

[[noreturn]] void bad_index(std::string_view what, Offset entry, Index index, Index count) {
  throw Error(ErrorCode::input,
              fmt::format("entry {}: {} {} is not in 0..{}", entry, what, index, static_cast<Offset>(count) - 1));
}

}  // namespace

namespace {

template <class Column>
SparseObservations sort_into_rows(Index rows, Index cols, const Entries& entries, const std::vector<Real>& weight) {
  const auto count = static_cast<std::size_t>(entries.size());
  // A counting sort into rows, then a sort of the columns inside each row.
  std::vector<Offset> begin(static_cast<std::size_t>(rows) + 1, 0);
  for (std::size_t e = 0; e < count; ++e) {
    if (entries.row[e] < 0 || entries.row[e] >= rows) bad_index("row", Offset(e), entries.row[e], rows);
    if (entries.col[e] < 0 || entries.col[e] >= cols) bad_index("column", Offset(e), entries.col[e], cols);
    ++begin[static_cast<std::size_t>(entries.row[e]) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());

  std::vector<Column> col(count);
  std::vector<Real> value(count);
  std::vector<Real> sorted_weight(weight.size());
  std::vector<Offset> place(begin.begin(), begin.end() - 1);
  for (std::size_t e = 0; e < count; ++e) {
    const auto to = static_cast<std::size_t>(place[static_cast<std::size_t>(entries.row[e])]++);
    col[to] = static_cast<Column>(entries.col[e]);
    value[to] = entries.value[e];
    if (!weight.empty()) sorted_weight[to] = weight[e];
  }
  struct Cell {
    Column col;
    Real value;
    Real weight;
  };
  std::vector<Cell> row;
  for (Index i = 0; i < rows; ++i) {
    const auto from = static_cast<std::size_t>(begin[static_cast<std::size_t>(i)]);
    const auto to = static_cast<std::size_t>(begin[static_cast<std::size_t>(i) + 1]);
    row.clear();
    for (std::size_t e = from; e < to; ++e) {
      row.push_back({col[e], value[e], weight.empty() ? Real(1) : sorted_weight[e]});
    }
    std::sort(row.begin(), row.end(), [](const Cell& a, const Cell& b) { return a.col < b.col; });
    for (std::size_t e = from; e < to; ++e) {
      const Cell& cell = row[e - from];
      if (e > from && cell.col == col[e - 1]) {
        throw Error(ErrorCode::input,
                    fmt::format("row {}, column {} is given twice; give each entry once", i, cell.col));
      }
      col[e] = cell.col;
      value[e] = cell.value;
      if (!weight.empty()) sorted_weight[e] = cell.weight;
    }
  }
  return {SparsePattern(rows, cols, std::move(begin), Array<Column>(std::move(col))), std::move(value),
          std::move(sorted_weight)};
}

}  // namespace

SparseObservations make_sparse(Index rows, Index cols, const Entries& entries, const std::vector<Real>& weight) {
  const auto count = static_cast<std::size_t>(entries.size());
  if (entries.col.size() != count || entries.value.size() != count || (!weight.empty() && weight.size() != count)) {
    throw Error(ErrorCode::input,
                fmt::format("{} rows, {} columns, {} values, {} weights: the lists must be equally long", count,
                            entries.col.size(), entries.value.size(), weight.size()));
  }
  return cols <= std::numeric_limits<ShortIndex>::max() + 1 ? sort_into_rows<ShortIndex>(rows, cols, entries, weight)
                                                            : sort_into_rows<Index>(rows, cols, entries, weight);
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
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) return sparse->pattern.rows();
  return std::get<DenseObservations>(observations).rows;
}

Index cols(const Observations& observations) {
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) return sparse->pattern.cols();
  return std::get<DenseObservations>(observations).cols;
}

Offset observed(const Observations& observations) {
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) return sparse->pattern.entries();
  const auto& value = std::get<DenseObservations>(observations).value;
  return std::count_if(value.begin(), value.end(), [](Real y) { return !std::isnan(y); });
}

Counts count_observed(const Observations& observations) {
  Counts counts{std::vector<Offset>(static_cast<std::size_t>(rows(observations)), 0),
                std::vector<Offset>(static_cast<std::size_t>(cols(observations)), 0)};
  const auto count = [&](Index row, Index col) {
    ++counts.row[static_cast<std::size_t>(row)];
    ++counts.col[static_cast<std::size_t>(col)];
  };
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) {
    const SparsePattern& pattern = sparse->pattern;
    for (Index i = 0; i < pattern.rows(); ++i) {
      for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) count(i, pattern.col()[e]);
    }
    return counts;
  }
  const auto& dense = std::get<DenseObservations>(observations);
  const Real* value = dense.value.data();
  for (Index i = 0; i < dense.rows; ++i) {
    for (Index j = 0; j < dense.cols; ++j) {
      if (!std::isnan(*value++)) count(i, j);
    }
  }
  return counts;
}

}  // namespace tracenorm
