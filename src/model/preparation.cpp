#include "tracenorm/preparation.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/block_sums.hpp"
#include "model/entry_checks.hpp"
#include "model/offsets.hpp"
#include "model/side_sums.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

using Kind = Preparation::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 6> kNames{{{"none", Kind::none},
                                                                   {"center", Kind::center},
                                                                   {"zscore", Kind::zscore},
                                                                   {"rows", Kind::rows},
                                                                   {"columns", Kind::columns},
                                                                   {"both", Kind::both}}};

Entries observed_entries(const DenseObservations& matrix) {
  Entries entries;
  auto value = matrix.value.begin();
  for (Index i = 0; i < matrix.rows; ++i) {
    for (Index j = 0; j < matrix.cols; ++j, ++value) {
      if (std::isnan(*value)) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(*value);
    }
  }
  return entries;
}

/// Mean and standard deviation. Sums are exact: entries come in many orders, and from ranks.
template <class Values>
void fit_global(Preparation& preparation, const Values& values, Ranks* ranks = nullptr) {
  ExactSum all;
  double count = 0;
  for (const Real y : values) {
    if (std::isnan(y)) continue;  // a hole of a full matrix
    all.add(double(y));
    ++count;
  }
  count = total_count(count, ranks);
  const double sum = total(all, ranks);
  if (count == 0) throw Error(ErrorCode::input, "there are no values to fit a preparation to");
  preparation.offset = sum / count;
  if (preparation.kind == Kind::center) return;
  ExactSum of_squares;
  for (const Real y : values) {
    if (!std::isnan(y)) of_squares.add((double(y) - preparation.offset) * (double(y) - preparation.offset));
  }
  const double squares = total(of_squares, ranks);
  preparation.scale = count > 1 ? std::sqrt(squares / (count - 1)) : 0.0;
  if (!(preparation.scale > 1e-7 * std::abs(preparation.offset)) || preparation.scale == 0.0) {
    throw Error(ErrorCode::input,
                fmt::format("all {} values equal {}: z-scores need values that differ; center or none would do", count,
                            preparation.offset));
  }
}

}  // namespace

Preparation::Kind parse_preparation(std::string_view text) {
  std::string known;
  for (const auto& [name, kind] : kNames) {
    if (name == text) return kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  throw Error(ErrorCode::usage, fmt::format("unknown preparation '{}'; there are: {}", text, known));
}

std::string to_string(Preparation::Kind kind) {
  for (const auto& [name, known] : kNames) {
    if (known == kind) return std::string(name);
  }
  return "none";
}

bool has_offsets(Preparation::Kind kind) { return kind == Kind::rows || kind == Kind::columns || kind == Kind::both; }

Averaging averaging_for(const Loss& loss) {
  return std::visit(
      [](const auto& chosen) {
        const Interval slopes = chosen.slopes(1.0);
        return std::isfinite(slopes.lower) && std::isfinite(slopes.upper) ? Averaging::robust : Averaging::means;
      },
      loss);
}

Preparation fit_preparation(Preparation::Kind kind, Averaging averaging, const Entries& entries, Index rows, Index cols,
                            int threads) {
  Preparation preparation{.kind = kind};
  if (kind == Kind::none) return preparation;
  if (!has_offsets(kind)) {
    fit_global(preparation, entries.value);
    return preparation;
  }
  if (entries.size() == 0) throw Error(ErrorCode::input, "there are no values to fit a preparation to");
  require_inside(rows, cols, entries, Execution(threads));
  fit_offsets(preparation, averaging, entries, rows, cols, Execution(threads));
  return preparation;
}

Preparation fit_preparation(Preparation::Kind kind, Averaging averaging, const SparseObservations& data, int threads) {
  Preparation preparation{.kind = kind};
  if (kind == Kind::none) return preparation;
  if (!has_offsets(kind)) {
    fit_global(preparation, data.value, ranks_of(data));
    return preparation;
  }
  if (all_entries(data) == 0) throw Error(ErrorCode::input, "there are no values to fit a preparation to");
  fit_offsets(preparation, averaging, data, Execution(threads));
  return preparation;
}

Preparation fit_preparation(Preparation::Kind kind, Averaging averaging, const DenseObservations& matrix) {
  if (has_offsets(kind)) {
    return fit_preparation(kind, averaging, observed_entries(matrix), matrix.rows, matrix.cols);
  }
  Preparation preparation{.kind = kind};
  if (kind != Kind::none) fit_global(preparation, matrix.value);
  return preparation;
}

void prepare(const Preparation& preparation, Entries& entries, int threads) {
  if (preparation.kind == Kind::none) return;
  const Execution execution(threads);
  if (has_offsets(preparation.kind)) {
    const auto count = [](const std::vector<double>& offsets) {
      return offsets.empty() ? std::numeric_limits<Index>::max() : static_cast<Index>(offsets.size());
    };
    require_inside(count(preparation.row_offset), count(preparation.col_offset), entries, execution);
  }
  for_each_element(execution, entries.value.size(), [&](std::size_t e) {
    entries.value[e] = Real(preparation.apply(double(entries.value[e]), entries.row[e], entries.col[e]));
  });
}

void prepare(const Preparation& preparation, SparseObservations& data, int threads) {
  if (preparation.kind == Kind::none) return;
  std::vector<Real> values(data.value.size());
  const Execution execution(threads);
  visit_rows(data, [&]<class Column>(const EntriesByRow<Column>& entries) {
    SideSums<Column>(entries, execution).for_each([&](int, Index i, Index j, std::size_t e) {
      values[e] = Real(preparation.apply(double(data.value[e]), i, j));
    });
  });
  data.value = std::move(values);
}

void prepare(const Preparation& preparation, DenseObservations& matrix) {
  if (preparation.kind == Kind::none) return;
  std::vector<Real> values(matrix.value.begin(), matrix.value.end());
  Real* value = values.data();
  for (Index i = 0; i < matrix.rows; ++i) {
    for (Index j = 0; j < matrix.cols; ++j, ++value) *value = Real(preparation.apply(double(*value), i, j));
  }
  matrix.value = std::move(values);
}

}  // namespace tracenorm
