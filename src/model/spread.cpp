#include "tracenorm/spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tracenorm {

double Spread::width(Index row_index, Index col_index) const {
  const double width = row_index < 0 ? unknown : row[static_cast<std::size_t>(row_index)];
  return col_index < 0 ? width : width * col[static_cast<std::size_t>(col_index)];
}

double Spread::half_width(double level, Index row_index, Index col_index) const {
  // The score of rank ceil(level (n + 1)) covers that share of what comes.
  const auto count = static_cast<double>(scores.size());
  const double rank = std::max(1.0, std::ceil(level * (count + 1) - 1e-9));
  if (rank > count) return std::numeric_limits<double>::infinity();
  return scores[static_cast<std::size_t>(rank) - 1] * width(row_index, col_index);
}

}  // namespace tracenorm
