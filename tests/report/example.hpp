// A report with known numbers, made by hand: nothing is solved.
#pragma once

#include "report/run_report.hpp"

namespace tracenorm::report {

/// Of rank one: value * left * right', with unit vectors that have one entry each.
inline LowRankMatrix single_entry(Index rows, Index cols, Index row, Index col, double value) {
  Eigen::MatrixXd left = Eigen::MatrixXd::Zero(rows, 1);
  Eigen::MatrixXd right = Eigen::MatrixXd::Zero(cols, 1);
  left(row, 0) = 1;
  right(col, 0) = 1;
  return {left, Eigen::VectorXd::Constant(1, value), right};
}

inline const Problem& example_problem() {
  static const Problem problem{make_sparse(4, 5, Entries{{0, 1, 3}, {0, 2, 4}, {1, 2, 3}}), losses::Absolute{},
                               NoPenalty{}, TraceNormBall{7}};
  return problem;
}

/// Certified to 25 %.
inline RunReport example_report(std::string_view method = "fwua") {
  RunReport report;
  report.command = "complete";
  report.data = "ratings.tsv";
  report.problem = example_problem();
  report.method = parse_method(method);
  report.result.status = Status::iteration_limit;
  report.result.message = "all iterations done";
  report.result.method = method;
  report.result.solution = single_entry(4, 5, 0, 0, 6);
  report.result.objective = 10;
  report.result.lower_bound = 8;
  report.result.relative_gap = 0.25;
  report.result.trace_norm = 6;
  report.result.certificate = {SpectralBound::Proof::cholesky, 0, Slopes::average};
  report.result.iterations = report.result.solution_iteration = 40;
  report.result.seconds = 0.125;
  report.result.trace.resize(2);
  report.result.trace[1].k = 40;
  report.result.trace[1].lower_bound = 8;
  report.result.environment = {"1.2.3", "g++", "avx2", 2, 18446744073709551615U};
  return report;
}

}  // namespace tracenorm::report
