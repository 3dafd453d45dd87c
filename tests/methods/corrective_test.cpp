// The corrective method against optima of a cone solver, from several starting points, and on the cases that break
// descent over factors.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "support/dense_svd.hpp"
#include "support/identifier.hpp"
#include "support/optima.hpp"
#include "support/random_matrices.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm {
namespace {

using test::SolvedProblem;

constexpr double kGap = 1e-4;

double scale(const SolvedProblem& solved) { return std::max(1.0, std::abs(solved.optimum)); }

Result run(const Problem& problem, const LowRankMatrix* start = nullptr, int threads = 1) {
  RunOptions options;
  options.iterations = 400;
  options.gap = 0.98 * kGap;  // the answer is compressed and its objective made anew: that rounds
  options.threads = threads;
  return solve(problem, methods::Corrective{}, options, {.start = start});
}

/// Bounds hold at every iteration, the objective never rises, the answer is feasible and certified.
void expect_solved(const SolvedProblem& solved, const Result& result, double gap = kGap) {
  const double rounding = (sizeof(Real) == 4 ? 1e-5 : 1e-9) * scale(solved);
  double last = std::numeric_limits<double>::infinity();
  for (const Iteration& iteration : result.trace) {
    ASSERT_TRUE(std::isfinite(iteration.width)) << "at iteration " << iteration.k;
    ASSERT_LE(iteration.lower_bound, solved.optimum + 1e-9 * scale(solved)) << "at iteration " << iteration.k;
    ASSERT_GE(iteration.objective, solved.optimum - solved.accuracy - rounding) << "at iteration " << iteration.k;
    // Where a run ends its objective is in double, not rounded to the precision of the entries.
    ASSERT_LE(iteration.objective, last + rounding) << "at iteration " << iteration.k;
    last = iteration.objective;
  }
  EXPECT_GE(result.objective, solved.optimum - solved.accuracy);
  EXPECT_LE(result.objective, solved.optimum + gap * std::abs(solved.optimum) + rounding);
  EXPECT_DOUBLE_EQ(objective(solved.problem, result.solution), result.objective);
  if (solved.optimum > 1e-6) {
    EXPECT_LE(result.relative_gap, gap) << to_string(result.status) << " after " << result.iterations;
  }
}

double trace_norm(const LowRankMatrix& x) { return test::singular_values(x.dense()).sum(); }

LowRankMatrix random_matrix(Index rows, Index cols, Index rank, std::uint64_t seed) {
  Random random(seed);
  LowRankMatrix x(test::normal_matrix(rows, rank, random), Eigen::VectorXd::Ones(rank),
                  test::normal_matrix(cols, rank, random));
  x.compress();
  return x;
}

class CorrectiveWitness : public testing::TestWithParam<SolvedProblem> {};

TEST_P(CorrectiveWitness, ReachesTheOptimumFromZero) {
  const SolvedProblem& solved = GetParam();
  const Result result = run(solved.problem);
  expect_solved(solved, result);
  EXPECT_LE(trace_norm(result.solution), solved.problem.radius() * (1 + 1e-6));
}

TEST_P(CorrectiveWitness, ReachesTheOptimumFromAnyStart) {
  const SolvedProblem& solved = GetParam();
  const Index rows = tracenorm::rows(solved.problem.observations);
  const Index cols = tracenorm::cols(solved.problem.observations);
  for (const Index rank : {Index(1), std::min(rows, cols)}) {  // deficient, and full
    const LowRankMatrix start = random_matrix(rows, cols, rank, 7);
    expect_solved(solved, run(solved.problem, &start));
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, CorrectiveWitness, testing::ValuesIn(test::solved_problems()),
                         [](const auto& tested) { return test::identifier(tested.param.name); });

class WeightedCorrective : public testing::TestWithParam<SolvedProblem> {};

/// Uneven weights spread the entries' sizes: Real has fewer digits left for the small ones.
TEST_P(WeightedCorrective, ReachesTheOptimum) {
  constexpr double within = sizeof(Real) == 4 ? 3e-4 : kGap;
  expect_solved(GetParam(), run(GetParam().problem), within);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, WeightedCorrective, testing::ValuesIn(test::weighted_problems()),
                         [](const auto& tested) { return test::identifier(tested.param.name); });

/// A full matrix to fit.
Problem dense_problem(const Eigen::MatrixXd& y, double radius, Loss loss) {
  DenseObservations data;
  data.rows = static_cast<Index>(y.rows());
  data.cols = static_cast<Index>(y.cols());
  std::vector<Real> value;
  for (Index i = 0; i < data.rows; ++i) {
    for (Index j = 0; j < data.cols; ++j) value.push_back(Real(y(i, j)));
  }
  data.value = value;
  return {data, std::move(loss), NoPenalty{}, TraceNormBall{radius}};
}

/// Asked for more than the precision can give, it ends at its limit with everything finite, and still a bound.
TEST_P(CorrectiveWitness, EndsInGoodOrderWhenTheGapIsOutOfReach) {
  const SolvedProblem& solved = GetParam();
  RunOptions options;
  options.iterations = 60;
  options.gap = 1e-12;
  options.threads = 1;
  const Result result = solve(solved.problem, methods::Corrective{}, options);
  for (const Iteration& iteration : result.trace) {
    ASSERT_TRUE(std::isfinite(iteration.width) && std::isfinite(iteration.objective)) << "at iteration " << iteration.k;
    ASSERT_LE(iteration.lower_bound, solved.optimum + 1e-9 * scale(solved)) << "at iteration " << iteration.k;
  }
  EXPECT_LE(result.trace_norm, solved.problem.radius() * (1 + 1e-7));
}

TEST(Corrective, StartsAtTheOptimumAndStays) {
  const SolvedProblem& solved = test::solved_problems().front();
  const Result first = run(solved.problem);
  const Result again = run(solved.problem, &first.solution);
  expect_solved(solved, again);
  EXPECT_LE(again.objective, first.objective * (1 + 1e-6));
}

TEST(Corrective, RepeatedSingularValuesAndFullRank) {
  // Projection of 3 I onto the ball of radius 8 is I: a full-rank optimum whose singular values are all equal.
  const Index n = 8;
  const Result result = run(dense_problem(3 * Eigen::MatrixXd::Identity(n, n), 8, losses::Squared{1}));
  EXPECT_LE(result.relative_gap, kGap);
  EXPECT_NEAR(result.objective, 4.0 * n, 4.0 * n * 1e-4);
  EXPECT_LE((result.solution.dense() - Eigen::MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff(), 0.05);
}

TEST(Corrective, AnInactiveBoundLeavesNoResidual) {
  const LowRankMatrix truth = random_matrix(12, 9, 2, 3);
  const Eigen::MatrixXd y = truth.dense();
  for (const Loss& loss : {Loss(losses::Squared{1}), Loss(losses::Absolute{})}) {
    const Problem problem = dense_problem(y, 10 * truth.trace_norm_bound(), loss);
    const Result result = run(problem);
    EXPECT_LE(result.objective, 1e-3 * objective(problem, LowRankMatrix(12, 9))) << to_string(loss);
    EXPECT_GE(result.lower_bound, -1e-9);
  }
}

TEST(Corrective, OneEntry) {
  const Problem problem{make_sparse(5, 7, {{2}, {3}, {Real(-4)}}), losses::Absolute{}, NoPenalty{}, TraceNormBall{1.5}};
  const Result result = run(problem);
  EXPECT_NEAR(result.objective, 2.5, 1e-3);
  EXPECT_LE(result.relative_gap, kGap);
}

TEST(Corrective, NothingToFit) {
  const Problem zeros = dense_problem(Eigen::MatrixXd::Zero(4, 6), 2, losses::Absolute{});
  const Result result = run(zeros);
  EXPECT_EQ(result.objective, 0);
  EXPECT_EQ(result.lower_bound, 0);
  const Problem nothing_allowed = dense_problem(Eigen::MatrixXd::Ones(4, 6), 0, losses::Absolute{});
  const Result at_zero = run(nothing_allowed);
  EXPECT_NEAR(at_zero.objective, 24, 1e-6);
  EXPECT_LE(at_zero.relative_gap, kGap);
}

TEST(Corrective, TheSameBitsOnAnyNumberOfThreads) {
  const LowRankMatrix truth = random_matrix(300, 200, 4, 5);
  Random random(9);
  Entries seen;
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 200; ++j) {
      if (random.uniform() > 0.4) continue;
      seen.row.push_back(i);
      seen.col.push_back(j);
      seen.value.push_back(Real(truth.entry(i, j) + 0.1 * random.normal()));
    }
  }
  const Problem problem{make_sparse(300, 200, seen), losses::Absolute{}, NoPenalty{},
                        TraceNormBall{0.7 * truth.trace_norm_bound()}};
  const Result one = run(problem, nullptr, 1);
  EXPECT_LE(one.relative_gap, kGap);
  for (const int threads : {2, 5}) {
    const Result many = run(problem, nullptr, threads);
    EXPECT_EQ(one.objective, many.objective);
    EXPECT_EQ(one.lower_bound, many.lower_bound);
    EXPECT_EQ(one.solution.values(), many.solution.values());
    EXPECT_EQ(one.solution.left(), many.solution.left());
  }
}

/// Nothing is known of such a loss but its values, so its kinks have no multipliers.
TEST(Corrective, ALossGivenByItsValues) {
  int met = 0;
  for (const SolvedProblem& solved : test::solved_problems()) {
    if (!std::holds_alternative<losses::Absolute>(solved.problem.loss) || solved.optimum < 1e-6) continue;
    Problem problem = solved.problem;
    problem.loss = losses::Custom{[](double x, double y) { return std::abs(x - y); }, "absolute by values", {}};
    RunOptions options;
    options.iterations = 60;
    options.gap = 5e-3;
    const Result result = solve(problem, methods::Corrective{}, options);
    EXPECT_LE(result.relative_gap, 5e-3) << solved.name;
    EXPECT_LE(result.lower_bound, solved.optimum + 1e-6 * scale(solved)) << solved.name;
    ++met;
  }
  EXPECT_GE(met, 6);
}

}  // namespace
}  // namespace tracenorm
