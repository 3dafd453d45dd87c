// The side of the proof: a matrix G of slopes that are in the domains of the conjugates, and the sum of those.
#pragma once

#include <string>
#include <vector>

#include "base/execution.hpp"
#include "verify/observed.hpp"

namespace tracenorm::rigorous {

/// The slopes of a claim, moved into their domains where rounding left them a hair outside.
struct FeasibleSlopes {
  std::vector<double> slope;  ///< per observed entry, or per entry of the matrix
  bool everywhere = false;    ///< per entry of the matrix
  double conjugates = 0;      ///< an upper bound of everything that the lower bound subtracts but for the norm
  Offset moved = 0;
  double furthest = 0;  ///< the largest move
  std::string problem;  ///< what is infeasible; empty: nothing
};

FeasibleSlopes feasible_slopes(const Claim& claim, const Observed& observed, const Execution& execution);

}  // namespace tracenorm::rigorous
