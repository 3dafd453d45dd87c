// The matrix whose largest singular value is wanted: slopes with rows and columns divided by the weights of the norm,
// turned so that it has no more columns than rows.
#pragma once

#include <vector>

#include "verify/dual.hpp"
#include "verify/factored_entries.hpp"

namespace tracenorm::rigorous {

struct ScaledSlopes {
  Index rows = 0;
  Index cols = 0;
  bool everywhere = false;    ///< `value` has rows * cols elements, and begin and col are not needed
  std::vector<Offset> begin;  ///< of compressed rows
  std::vector<Index> col;
  std::vector<double> value;
  LowRankMatrix elsewhere;  ///< the matrix where nothing is stored: with weights, already divided by them

  /// How far the stored matrix may be from the exact one, in the Frobenius norm.
  double error = 0;
};

ScaledSlopes scale_slopes(const Claim& claim, const FeasibleSlopes& slopes);

}  // namespace tracenorm::rigorous
