// A full matrix beside the answer, a block of rows at a time: the answer is never whole in memory.
#pragma once

#include <algorithm>

#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm::app {

inline constexpr Index kRowsAtOnce = 256;

inline Eigen::MatrixXd some_rows(const LowRankMatrix& x, Index first, Index last) { return x.dense_rows(first, last); }
inline Eigen::MatrixXd some_rows(const Eigen::MatrixXd& x, Index first, Index last) {
  return x.middleRows(first, last - first);
}

/// Calls visit(row, col, datum, fitted) for every cell, in prepared units; the datum of a hole is NaN.
template <class Answer, class Visit>
void for_each_cell(const DenseObservations& data, const Answer& x, Visit&& visit) {
  std::size_t at = 0;
  for (Index first = 0; first < data.rows; first += kRowsAtOnce) {
    const Index last = std::min<Index>(first + kRowsAtOnce, data.rows);
    const Eigen::MatrixXd block = some_rows(x, first, last);
    for (Index i = first; i < last; ++i) {
      for (Index j = 0; j < data.cols; ++j, ++at) visit(i, j, double(data.value[at]), block(i - first, j));
    }
  }
}

}  // namespace tracenorm::app
