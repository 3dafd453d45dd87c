// Every row's own small problem, with the columns' vectors and offsets as they are: how a model of some rows becomes
// one of all. Thousands of entries a row and hundreds of thousands of rows are meant; `fold_in` is for single new rows,
// and solves exactly.
#pragma once

#include <vector>

#include "base/execution.hpp"
#include "tracenorm/loss.hpp"
#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm {

/// minimise over the row's vector a and offset b
///   sum_j weight_ij loss(a . right_j + b + col_offset_j - y_ij) + price_i |a|^2 / 2 + ridge b^2.
struct ColumnSide {
  Eigen::MatrixXd right;           ///< columns of the matrix x terms
  std::vector<double> col_offset;  ///< one per column
  double ridge = 0;                ///< of the row's offset
  bool fits_offsets = true;        ///< otherwise rows keep the offsets they have
};

/// Vectors of all rows, one a row; `row_offset` is where offsets begin and what they become. A loss that is not smooth
/// is replaced by huber:1. Rows without entries have zeros.
Eigen::MatrixXd rows_given_columns(const Loss& loss, const SparseObservations& data, const ColumnSide& columns,
                                   const std::vector<double>& price, std::vector<double>& row_offset,
                                   const Execution& execution);

}  // namespace tracenorm
