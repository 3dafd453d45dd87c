#include "report/ranking.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/block_sums.hpp"

namespace tracenorm::report {

namespace {

/// The columns of each row.
std::vector<std::vector<Index>> by_row(const Entries& entries, Index rows, double from) {
  std::vector<std::vector<Index>> columns(static_cast<std::size_t>(rows));
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    if (entries.row[e] < 0 || entries.col[e] < 0) continue;  // not in the model
    if (double(entries.value[e]) >= from) columns[static_cast<std::size_t>(entries.row[e])].push_back(entries.col[e]);
  }
  for (auto& row : columns) std::sort(row.begin(), row.end());
  return columns;
}

bool contains(const std::vector<Index>& sorted, Index col) {
  return std::binary_search(sorted.begin(), sorted.end(), col);
}

double discount(std::size_t place) { return 1 / std::log2(static_cast<double>(place) + 2); }

/// Means over rows.
constexpr std::array kMeans{&TopMeasures::precision, &TopMeasures::recall, &TopMeasures::ndcg, &TopMeasures::hit_rate,
                            &TopMeasures::mrr};

/// Adds what a list is worth to a row that has these relevant columns.
void add_list(const std::vector<Index>& order, const std::vector<Index>& wanted, int top, TopMeasures& sum) {
  double hits = 0;
  double gain = 0;
  double best_gain = 0;
  for (std::size_t p = 0; p < order.size(); ++p) {
    if (p < wanted.size()) best_gain += discount(p);
    if (!contains(wanted, order[p])) continue;
    if (hits == 0) sum.mrr += 1 / (static_cast<double>(p) + 1);
    ++hits;
    gain += discount(p);
  }
  ++sum.rows;
  sum.precision += hits / top;
  sum.recall += hits / static_cast<double>(wanted.size());
  sum.ndcg += best_gain > 0 ? gain / best_gain : 0;
  sum.hit_rate += hits > 0 ? 1 : 0;
}

}  // namespace

void predict(const Model& model, std::span<const std::int64_t> rows, std::span<const std::int64_t> cols,
             std::span<double> out, const Execution& execution) {
  for_each_element(execution, out.size(), [&](std::size_t e) {
    out[e] = model.predict(static_cast<Index>(rows[e]), static_cast<Index>(cols[e]));
  });
}

std::vector<double> row_predictions(const Model& model, std::optional<Index> row) {
  std::vector<double> all(static_cast<std::size_t>(model.factors.cols()));
  const Eigen::MatrixXd line = row ? model.factors.dense_rows(*row, *row + 1) : Eigen::MatrixXd{};
  for (Index j = 0; j < model.factors.cols(); ++j) {
    all[static_cast<std::size_t>(j)] =
        row ? model.preparation.undo(line(0, j), *row, j) : model.preparation.base(Preparation::kUnknown, j);
  }
  return all;
}

std::vector<Index> best_columns(const std::vector<double>& predictions, const std::vector<Index>& left_out,
                                std::size_t top) {
  std::vector<Index> order;
  for (Index j = 0; j < static_cast<Index>(predictions.size()); ++j) {
    if (!contains(left_out, j)) order.push_back(j);
  }
  top = std::min(top, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                    [&](Index a, Index b) {
                      const double pa = predictions[static_cast<std::size_t>(a)];
                      const double pb = predictions[static_cast<std::size_t>(b)];
                      return pa != pb ? pa > pb : a < b;
                    });
  order.resize(top);
  return order;
}

TopMeasures top_measures(const Model& model, const Entries& train, const Entries& test, int top, double relevant_from,
                         const Execution& execution) {
  constexpr Offset kRowsAtOnce = 64;
  const Index rows = model.factors.rows();
  const auto columns = static_cast<std::size_t>(model.factors.cols());
  const auto seen = by_row(train, rows, -std::numeric_limits<double>::infinity());
  const auto relevant = by_row(test, rows, relevant_from);
  std::vector<TopMeasures> parts(static_cast<std::size_t>((rows + kRowsAtOnce - 1) / kRowsAtOnce));
  std::vector<std::atomic<bool>> listed(columns);
  execution.for_each_block(rows, kRowsAtOnce, [&](Offset first, Offset count) {
    TopMeasures& sum = parts[static_cast<std::size_t>(first / kRowsAtOnce)];
    for (auto i = static_cast<Index>(first); i < first + count; ++i) {
      const std::vector<Index>& wanted = relevant[static_cast<std::size_t>(i)];
      if (wanted.empty()) continue;
      const std::vector<Index> order =
          best_columns(row_predictions(model, i), seen[static_cast<std::size_t>(i)], static_cast<std::size_t>(top));
      for (const Index col : order) listed[static_cast<std::size_t>(col)].store(true, std::memory_order_relaxed);
      add_list(order, wanted, top, sum);
    }
  });
  TopMeasures sum{top, relevant_from};
  for (const TopMeasures& part : parts) {
    sum.rows += part.rows;
    for (const auto measure : kMeans) sum.*measure += part.*measure;
  }
  const double count = sum.rows > 0 ? static_cast<double>(sum.rows) : std::numeric_limits<double>::quiet_NaN();
  for (const auto measure : kMeans) sum.*measure /= count;
  const auto on_a_list = std::count(listed.begin(), listed.end(), true);
  sum.coverage = sum.rows > 0 ? static_cast<double>(on_a_list) / static_cast<double>(columns) : count;
  return sum;
}

}  // namespace tracenorm::report
