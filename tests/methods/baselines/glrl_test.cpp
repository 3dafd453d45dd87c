#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "methods/baselines/problems.hpp"
#include "methods/baselines/two_coefficients.hpp"

namespace tracenorm {
namespace {

using baselines::WeightedValue;

TEST(WeightedMedian, MinimisesTheWeightedDistances) {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<WeightedValue> values(1 + random.below(12));
    for (WeightedValue& v : values) v = {std::round(4 * random.normal()), 0.1 + random.uniform()};
    const auto distance = [values](double a) {
      double sum = 0;
      for (const WeightedValue& v : values) sum += v.weight * std::abs(a - v.value);
      return sum;
    };
    double least = distance(values[0].value);
    for (const WeightedValue& v : values) least = std::min(least, distance(v.value));
    std::vector<WeightedValue> scratch = values;
    EXPECT_NEAR(distance(baselines::weighted_median(scratch)), least, 1e-12);
  }
}

TEST(TwoCoefficients, FindsTheLeastSquares) {
  // For the squared loss the best (a, b) solves a 2 x 2 system; with orthogonal x and g one sweep finds it.
  const SparseObservations data = make_sparse(1, 4, {{0, 0, 0, 0}, {0, 1, 2, 3}, {3, 1, -2, 5}});
  const Problem problem{data, losses::Squared{}, NoPenalty{}, TraceNormBall{1}};
  const Execution execution(2);
  const baselines::Observed observed(problem.observations, execution);
  baselines::TwoCoefficients coefficients(observed, problem);
  const auto best = coefficients.fit({1, 1, 0, 0}, {0, 0, 1, -1}, {2, 0, 2});
  EXPECT_NEAR(best.a, 2, 1e-6);
  EXPECT_NEAR(best.b, 3.5, 1e-6);
}

class Objective : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(Objective, FallsAndNeverRises) {
  Problem problem = test::outlier_problem(80, 60, 0.4, parse_penalty(GetParam().second));
  problem.loss = parse_loss(GetParam().first);
  if (GetParam().first == "hinge" || GetParam().first == "logistic") {
    Array<Real>& data = std::get<SparseObservations>(problem.observations).value;
    std::vector<Real> labels(data.begin(), data.end());
    for (Real& value : labels) value = value > 0 ? Real(1) : Real(-1);
    data = std::move(labels);
  }
  for (const bool dense : {false, true}) {
    const Result result =
        solve(dense ? test::dense_version(problem) : problem, methods::Glrl{.rank = 5}, test::at_most(20));
    for (std::size_t k = 1; k < result.trace.size(); ++k) {
      EXPECT_LE(result.trace[k].objective, result.trace[k - 1].objective) << k;
      EXPECT_LE(result.trace[k].rank, 5);
    }
    EXPECT_LT(result.trace.back().objective, 0.8 * result.trace.front().objective);
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, Objective,
                         testing::Values(std::pair{"absolute", "none"},
                                         std::pair{"absolute", "complement-squared:0.01"},
                                         std::pair{"squared:0.5", "none"}, std::pair{"huber:1", "none"},
                                         std::pair{"quantile:0.4", "none"}, std::pair{"hinge", "none"},
                                         std::pair{"logistic", "complement-squared:0.01"}),
                         [](const auto& tested) {
                           std::string name = tested.param.first + tested.param.second;
                           std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

TEST(Glrl, TakesTheSameBitsOnAnyNumberOfThreads) {
  const Problem problem = test::outlier_problem(400, 300, 0.4);
  EXPECT_TRUE(test::same_on_any_thread_count(problem, methods::Glrl{.rank = 5}, test::at_most(6)));
}

TEST(Glrl, AnswersIllPosedInput) {
  const Problem problem = test::single_entry(4, 3, 2, losses::Absolute{});
  const Result one = solve(problem, methods::Glrl{.rank = 1}, {});
  EXPECT_NEAR(one.objective, 0, 1e-6);
  EXPECT_EQ(one.status, Status::converged);
  const std::string rank = test::usage_error(problem, methods::Glrl{.rank = 4});
  EXPECT_NE(rank.find("rank = 4"), std::string::npos) << rank;
  EXPECT_NE(rank.find("4 x 3"), std::string::npos) << rank;
  Problem l1 = problem;
  l1.penalty = L1Penalty{0.1};
  EXPECT_NE(test::usage_error(l1, methods::Glrl{.rank = 1}).find("l1"), std::string::npos);
}

}  // namespace
}  // namespace tracenorm
