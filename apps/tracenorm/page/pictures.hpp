// A matrix as pictures: the data, what the answer makes of them, and what is left over.
#pragma once

#include <string>
#include <vector>

#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/preparation.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm::app {

/// Cells of a matrix, row by row; a large matrix is shown by the means of blocks.
struct Picture {
  Index width = 0;
  Index height = 0;
  double lower = 0;  ///< what the first and the last colour stand for
  double upper = 0;
  std::string cells;  ///< two hexadecimal digits each, from lower (00) to upper (ff); "--": nothing is known
};

struct Pictures {
  Picture observed;
  Picture fitted;    ///< on the same scale
  Picture residual;  ///< observed less fitted, on a scale around zero
};

/// In raw units. One pass over the rows; the full answer is never made.
Pictures pictures(const DenseObservations& data, const Preparation& preparation, const LowRankMatrix& x);
/// With an answer that is there, of data as they are.
Pictures pictures(const DenseObservations& data, const Eigen::MatrixXd& answer);

}  // namespace tracenorm::app
