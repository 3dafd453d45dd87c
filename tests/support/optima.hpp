// Small problems with optima from a cone solver (tests/fixtures/make_optima.py): the outside witness.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tracenorm/problem.hpp"

namespace tracenorm::test {

struct SolvedProblem {
  std::string name;
  Problem problem;
  double optimum;  ///< the true optimum lies in [optimum - accuracy, optimum]
  double accuracy;
};
inline void PrintTo(const SolvedProblem& solved, std::ostream* out) { *out << solved.name; }

/// The constrained problems.
const std::vector<SolvedProblem>& solved_problems();

/// Problems under a weighted trace norm (make_weighted_optima.py).
const std::vector<SolvedProblem>& weighted_problems();

/// Problems with offsets in the model (make_offset_optima.py).
const std::vector<SolvedProblem>& offset_problems();

/// Problems over the positive semidefinite cone (make_psd_optima.py).
const std::vector<SolvedProblem>& semidefinite_problems();

struct PenalizedProblem {
  std::string name;
  Problem problem;  ///< with an l1 penalty of lambda1; the radius is the trace norm of the solution
  double lambda1;
  double lambda2;  ///< of the trace norm
  double optimum;
  double accuracy;
};
const std::vector<PenalizedProblem>& penalized_problems();

}  // namespace tracenorm::test
