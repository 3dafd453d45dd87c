// Sparse patterns like those of ratings: rows and columns of very different activity. Made on the spot, in order, so
// that a hundred million entries need no sorting.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm::bench {

/// About `wanted` entries in at most 65536 columns. A column is met with a probability that falls like a power of its
/// rank, and the ranks are scattered over the columns, as in real data. Values are standard normal.
inline SparseObservations make_ratings(Index rows, Index cols, Offset wanted, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<double> activity(static_cast<std::size_t>(rows));
  for (double& a : activity) a = std::exp(random.normal());
  const double total = std::accumulate(activity.begin(), activity.end(), 0.0);
  std::vector<Index> place(static_cast<std::size_t>(cols));  // of the column of each rank
  std::iota(place.begin(), place.end(), 0);
  for (std::size_t k = place.size(); k > 1; --k) std::swap(place[k - 1], place[random.below(k)]);

  std::vector<Offset> begin{0};
  std::vector<ShortIndex> col;
  col.reserve(static_cast<std::size_t>(wanted));
  begin.reserve(static_cast<std::size_t>(rows) + 1);
  std::vector<Index> row_of(static_cast<std::size_t>(cols), -1);  // the last row that has the column
  for (Index i = 0; i < rows; ++i) {
    const double share = activity[static_cast<std::size_t>(i)] / total * static_cast<double>(wanted);
    const auto count = static_cast<Offset>(std::clamp(share + random.uniform(), 1.0, cols / 3.0));
    const auto first = static_cast<std::ptrdiff_t>(col.size());
    for (Offset k = 0; k < count;) {
      const Index j = place[static_cast<std::size_t>(cols * std::pow(random.uniform(), 3))];
      if (row_of[static_cast<std::size_t>(j)] == i) continue;
      row_of[static_cast<std::size_t>(j)] = i;
      col.push_back(static_cast<ShortIndex>(j));
      ++k;
    }
    std::sort(col.begin() + first, col.end());
    begin.push_back(static_cast<Offset>(col.size()));
  }
  SparseObservations data;
  std::vector<Real> value(col.size());
  for (Real& y : value) y = static_cast<Real>(random.normal());
  data.value = std::move(value);
  data.pattern = SparsePattern(rows, cols, std::move(begin), Array<ShortIndex>(std::move(col)));
  return data;
}

}  // namespace tracenorm::bench
