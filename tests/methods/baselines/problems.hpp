// Small problems for the tests of the baselines.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cstdint>

#include "support/random_matrices.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm::test {

/// A rank-three matrix with a share of its entries observed and one in ten of those far off.
inline SparseObservations outlier_data(Index rows, Index cols, double share, std::uint64_t seed) {
  Random random(seed);
  const Eigen::MatrixXd u = normal_matrix(rows, 3, random);
  const Eigen::MatrixXd v = normal_matrix(cols, 3, random);
  Entries entries;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (random.uniform() >= share) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(Real(u.row(i).dot(v.row(j)) + (random.uniform() < 0.1 ? 20 * random.normal() : 0)));
    }
  }
  return make_sparse(rows, cols, entries);
}

inline Problem outlier_problem(Index rows, Index cols, double share, const Penalty& penalty = NoPenalty{}) {
  return {outlier_data(rows, cols, share, 17), losses::Absolute{}, penalty, TraceNormBall{1}};
}

/// The same data as a full matrix.
inline Problem dense_version(const Problem& problem) {
  Problem dense = problem;
  dense.observations = make_dense(std::get<SparseObservations>(problem.observations));
  return dense;
}

inline Problem single_entry(Index rows, Index cols, double value, const Loss& loss) {
  return {make_sparse(rows, cols, {{rows - 1}, {0}, {Real(value)}}), loss, NoPenalty{}, TraceNormBall{1}};
}

inline RunOptions at_most(int iterations) {
  RunOptions options;
  options.iterations = iterations;
  return options;
}

inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// Whether two runs took the same path to the last bit.
inline bool same_run(const Result& a, const Result& b) {
  if (a.trace.size() != b.trace.size()) return false;
  for (std::size_t k = 0; k < a.trace.size(); ++k) {
    if (!same_bits(a.trace[k].objective, b.trace[k].objective) || !same_bits(a.trace[k].step, b.trace[k].step) ||
        !same_bits(a.trace[k].lower_bound, b.trace[k].lower_bound)) {
      return false;
    }
  }
  return a.solution.left() == b.solution.left() && a.solution.values() == b.solution.values() &&
         a.solution.right() == b.solution.right();
}

/// Runs on 1, 2, 3 and 5 threads and says whether all of them took the same path.
inline bool same_on_any_thread_count(const Problem& problem, const Method& method, RunOptions options) {
  options.threads = 1;
  const Result one = solve(problem, method, options);
  for (const int threads : {2, 3, 5}) {
    options.threads = threads;
    if (!same_run(one, solve(problem, method, options))) return false;
  }
  return true;
}

/// The message of the usage error that solving throws; empty when it throws none.
inline std::string usage_error(const Problem& problem, const Method& method) {
  try {
    solve(problem, method, at_most(1));
  } catch (const Error& error) {
    return error.code() == ErrorCode::usage ? error.what() : "another error";
  }
  return {};
}

}  // namespace tracenorm::test
