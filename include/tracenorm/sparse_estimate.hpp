// An exactly sparse matrix beside the low-rank answer of a problem with an l1 penalty.
//
// A matrix of low rank has hardly an entry that is exactly zero. Which entries of the optimum are is what the dual
// point G says: where G_ij is strictly inside the slopes that the entry's function has at zero, every optimum of the
// problem that G is optimal for is zero. G is not quite optimal; but with a certified gap, and m the distance of G_ij
// from the ends of that interval, every optimum has |X_ij| <= gap / m there (docs/mathematics.md).
#pragma once

#include <Eigen/Core>

#include "tracenorm/problem.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm {

struct SparseEstimate {
  Eigen::MatrixXd x;  ///< the answer, with zeros where G is inside by more than a thousandth of lambda
  Offset zeros = 0;   ///< how many entries that are
  Offset proved = 0;  ///< those of them where every optimum is at most a thousandth of the largest entry of the answer
  double objective = 0;  ///< of x; it may be outside of the ball, so nothing bounds this from below
  double raised = 0;     ///< over the semidefinite cone: what was added to the diagonal to make x semidefinite again
};

/// Throws a usage error where there is no l1 penalty, and a numerical one where the run kept no dual point.
SparseEstimate sparse_estimate(const Problem& problem, const Result& result);

}  // namespace tracenorm
