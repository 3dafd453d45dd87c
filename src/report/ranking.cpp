#include "report/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tracenorm::report {

namespace {

/// The columns of each row.
std::vector<std::vector<Index>> by_row(const Entries& entries, Index rows, double from) {
  std::vector<std::vector<Index>> columns(static_cast<std::size_t>(rows));
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    if (double(entries.value[e]) >= from) columns[static_cast<std::size_t>(entries.row[e])].push_back(entries.col[e]);
  }
  for (auto& row : columns) std::sort(row.begin(), row.end());
  return columns;
}

bool contains(const std::vector<Index>& sorted, Index col) {
  return std::binary_search(sorted.begin(), sorted.end(), col);
}

double discount(std::size_t place) { return 1 / std::log2(static_cast<double>(place) + 2); }

}  // namespace

TopMeasures top_measures(const Model& model, const Entries& train, const Entries& test, int top, double relevant_from) {
  const Index rows = model.factors.rows();
  const Index cols = model.factors.cols();
  const auto seen = by_row(train, rows, -std::numeric_limits<double>::infinity());
  const auto relevant = by_row(test, rows, relevant_from);
  TopMeasures sum{top, relevant_from};
  std::vector<Index> order;
  for (Index i = 0; i < rows; ++i) {
    const std::vector<Index>& wanted = relevant[static_cast<std::size_t>(i)];
    if (wanted.empty()) continue;
    const Eigen::MatrixXd line = model.factors.dense_rows(i, i + 1);
    const auto score = [&](Index j) { return model.preparation.undo(line(0, j), i, j); };
    order.clear();
    for (Index j = 0; j < cols; ++j) {
      if (!contains(seen[static_cast<std::size_t>(i)], j)) order.push_back(j);
    }
    const std::size_t listed = std::min(order.size(), static_cast<std::size_t>(top));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(listed), order.end(),
                      [&](Index a, Index b) {
                        const double sa = score(a);
                        const double sb = score(b);
                        return sa != sb ? sa > sb : a < b;
                      });
    double hits = 0;
    double gain = 0;
    double best_gain = 0;
    for (std::size_t p = 0; p < listed; ++p) {
      if (p < wanted.size()) best_gain += discount(p);
      if (!contains(wanted, order[p])) continue;
      ++hits;
      gain += discount(p);
    }
    ++sum.rows;
    sum.precision += hits / top;
    sum.recall += hits / static_cast<double>(wanted.size());
    sum.ndcg += best_gain > 0 ? gain / best_gain : 0;
    sum.hit_rate += hits > 0 ? 1 : 0;
  }
  const double count = sum.rows > 0 ? static_cast<double>(sum.rows) : std::numeric_limits<double>::quiet_NaN();
  sum.precision /= count;
  sum.recall /= count;
  sum.ndcg /= count;
  sum.hit_rate /= count;
  return sum;
}

}  // namespace tracenorm::report
