#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>

#include "methods/baselines/problems.hpp"
#include "methods/baselines/singular_threshold.hpp"
#include "support/dense_svd.hpp"
#include "support/optima.hpp"

namespace tracenorm {
namespace {

using test::PenalizedProblem;

/// v v' blocks on the diagonal, and noise.
Problem covariance(Index n, double lambda1) {
  Random random(5);
  std::vector<Real> data(std::size_t(n) * std::size_t(n));
  for (Real& value : data) value = Real(0.2 * random.normal());
  const Index block = n / 5;
  for (Index b = 0; b < 5; ++b) {
    std::vector<double> v(static_cast<std::size_t>(block));
    for (double& one : v) one = 2 * random.uniform() - 1;
    for (Index i = 0; i < block; ++i) {
      for (Index j = 0; j < block; ++j) {
        data[std::size_t(b * block + i) * std::size_t(n) + std::size_t(b * block + j)] +=
            Real(v[std::size_t(i)] * v[std::size_t(j)]);
      }
    }
  }
  return {DenseObservations{n, n, std::move(data), {}}, losses::Squared{0.5}, L1Penalty{lambda1}, TraceNormBall{1}};
}

class PenalizedOptimum : public testing::TestWithParam<PenalizedProblem> {};

/// Objectives are computed from entries in Real.
constexpr double kRounding = sizeof(Real) == 4 ? 3e-7 : 1e-12;

TEST_P(PenalizedOptimum, IsReachedAndBracketedAllTheWay) {
  const PenalizedProblem& solved = GetParam();
  const Result result =
      solve(solved.problem, methods::GenFB{.trace_penalty = solved.lambda2, .tolerance = 1e-8}, test::at_most(5000));
  EXPECT_TRUE(result.status == Status::converged || result.status == Status::optimal) << result.message;
  EXPECT_NEAR(result.objective, solved.optimum, 1e-5 * solved.optimum);
  EXPECT_NEAR(result.trace_norm, solved.problem.radius(), 2e-3 * solved.problem.radius() + 1e-5);
  EXPECT_LT(result.relative_gap, 1e-4);
  const double slack = solved.accuracy + kRounding * solved.optimum;
  for (const Iteration& iteration : result.trace) {
    EXPECT_LE(iteration.lower_bound, solved.optimum + slack) << iteration.k;
    EXPECT_GE(iteration.objective, solved.optimum - slack) << iteration.k;
  }
}

TEST_P(PenalizedOptimum, SolvesTheBoundedProblemWithItsTraceNorm) {
  const PenalizedProblem& solved = GetParam();
  const Result penalized =
      solve(solved.problem, methods::GenFB{.trace_penalty = solved.lambda2, .tolerance = 1e-8}, test::at_most(5000));
  Problem bounded = solved.problem;
  bounded.constraint = TraceNormBall{penalized.trace_norm};
  const double target = objective(solved.problem, penalized.solution);
  RunOptions options = test::at_most(3000);
  options.gap = 1e-3;
  const Result result = solve(bounded, methods::FrankWolfe{.width = HybridWidth{}}, options);
  EXPECT_NEAR(result.objective, target, 0.005 * target);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, PenalizedOptimum, testing::ValuesIn(test::penalized_problems()),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

TEST(GenFB, BoundsMeetForEverySmoothLoss) {
  for (const char* loss : {"squared:2", "huber:0.5", "logistic"}) {
    for (const char* penalty : {"none", "l1:0.05"}) {
      Random random(3);
      Entries entries;
      std::vector<Real> weight;
      for (Index i = 0; i < 14; ++i) {
        for (Index j = 0; j < 11; ++j) {
          if (random.uniform() < 0.3) continue;
          entries.row.push_back(i);
          entries.col.push_back(j);
          entries.value.push_back(random.uniform() < 0.5 ? Real(1) : Real(-1));
          weight.push_back(Real(0.5 + random.uniform()));
        }
      }
      const Problem problem{make_sparse(14, 11, entries, weight), parse_loss(loss), parse_penalty(penalty),
                            TraceNormBall{1}};
      const Result result =
          solve(problem, methods::GenFB{.trace_penalty = 0.5, .tolerance = 1e-8}, test::at_most(20000));
      EXPECT_EQ(result.status, Status::converged) << loss << ' ' << penalty;
      EXPECT_LT(result.relative_gap, 1e-4) << loss << ' ' << penalty;
      EXPECT_NEAR(solve(test::dense_version(problem), methods::GenFB{.trace_penalty = 0.5, .tolerance = 1e-8},
                        test::at_most(20000))
                      .objective,
                  result.objective, 1e-6 * result.objective);
    }
  }
}

TEST(GenFB, AnswersZeroWhenThePenaltyIsThatLarge) {
  const Problem problem = covariance(40, 0.4);
  const Result result = solve(problem, methods::GenFB{.trace_penalty = 1e4}, {});
  EXPECT_EQ(result.solution.terms(), 0);
  EXPECT_EQ(result.trace_norm, 0);
  EXPECT_EQ(result.status, Status::optimal);
  EXPECT_EQ(result.iterations, 0);
}

TEST(GenFB, WithoutAPenaltyFitsTheData) {
  const Problem problem = covariance(10, 0.0);
  const Result result = solve(problem, methods::GenFB{.trace_penalty = 0, .step = 1.0}, {});
  EXPECT_EQ(result.status, Status::converged);  // no bound is positive, so no relative gap is small
  EXPECT_NEAR(result.objective, 0, 1e-10);
  EXPECT_LE(result.lower_bound, 0);
}

TEST(GenFB, TakesTheSameBitsOnAnyNumberOfThreads) {
  EXPECT_TRUE(
      test::same_on_any_thread_count(covariance(300, 0.4), methods::GenFB{.trace_penalty = 2}, test::at_most(12)));
}

TEST(GenFB, AnswersIllPosedInput) {
  const Result one = solve(test::single_entry(4, 3, 2, losses::Squared{0.5}), methods::GenFB{.trace_penalty = 0.5}, {});
  EXPECT_NEAR(one.trace_norm, 1.5, 1e-3);
  EXPECT_EQ(one.solution.terms(), 1);
  const std::string loss = test::usage_error(test::single_entry(4, 3, 2, losses::Absolute{}), methods::GenFB{});
  EXPECT_NE(loss.find("squared, huber or logistic"), std::string::npos) << loss;
  Problem problem = test::single_entry(4, 3, 2, losses::Squared{});
  problem.penalty = ComplementSquaredPenalty{0.1};
  EXPECT_NE(test::usage_error(problem, methods::GenFB{}).find("complement-squared"), std::string::npos);
}

Eigen::MatrixXd exact_threshold(const baselines::RowMatrix& a, double threshold) {
  const test::DenseSvd svd = test::dense_svd(a);
  return svd.u * (svd.values.array() - threshold).cwiseMax(0.0).matrix().asDiagonal() * svd.v.transpose();
}

class Threshold : public testing::TestWithParam<std::pair<Index, Index>> {};

TEST_P(Threshold, AgreesWithAnExactDecompositionWhileTheMatrixChanges) {
  const auto [rows, cols] = GetParam();
  Random random(1);
  const Eigen::MatrixXd low = test::normal_matrix(rows, 4, random) * test::normal_matrix(4, cols, random);
  baselines::RowMatrix a = low + test::normal_matrix(rows, cols, random);
  const double threshold = 2.2 * std::sqrt(std::max(rows, cols));
  const Execution execution(2);
  baselines::SingularThreshold svt(rows, cols, 1, execution);
  for (int call = 0; call < 4; ++call) {
    const double accuracy = 1e-6 * a.norm();
    EXPECT_LE((svt(a, threshold, accuracy).dense() - exact_threshold(a, threshold)).norm(), 1.01 * accuracy) << call;
    EXPECT_TRUE(svt.confirm(a, threshold)) << call;
    a += 0.05 * test::normal_matrix(rows, cols, random);
  }
  // A direction that the block knows nothing of, far above the threshold.
  Eigen::VectorXd u = Eigen::VectorXd::Zero(rows);
  u[rows / 2] = 1;
  a += 5 * threshold * u * test::normal_matrix(cols, 1, random).normalized().transpose();
  EXPECT_LE((svt(a, threshold, 1e-8 * a.norm()).dense() - exact_threshold(a, threshold)).norm(), 1e-7 * a.norm());
  // A high rank, and a threshold of zero.
  EXPECT_LE((svt(a, 0.3 * threshold, 1e-8).dense() - exact_threshold(a, 0.3 * threshold)).norm(), 1e-7);
  EXPECT_LE((svt(a, 0, 1e-8).dense() - a).norm(), 1e-9 * a.norm());
}

INSTANTIATE_TEST_SUITE_P(Shapes, Threshold,
                         testing::Values(std::pair{150, 120}, std::pair{110, 210}, std::pair{20, 30}),
                         [](const auto& tested) { return "rows" + std::to_string(tested.param.first); });

}  // namespace
}  // namespace tracenorm
