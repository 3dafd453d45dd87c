#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>

#include "methods/baselines/conjugate_gradient.hpp"
#include "methods/baselines/problems.hpp"
#include "support/dense_svd.hpp"

namespace tracenorm {
namespace {

using baselines::FixedRankPoint;
using baselines::Tangent;

FixedRankPoint random_point(Index rows, Index cols, Index rank, Random& random) {
  const Eigen::MatrixXd x = test::normal_matrix(rows, rank, random) * test::normal_matrix(rank, cols, random);
  const test::DenseSvd svd = test::dense_svd(x);
  return {svd.u.leftCols(rank), svd.values.head(rank), svd.v.leftCols(rank)};
}

Tangent random_tangent(const FixedRankPoint& x, Random& random) {
  const Eigen::MatrixXd z = test::normal_matrix(x.u.rows(), x.v.rows(), random);
  return baselines::project(x, z * x.v, z.transpose() * x.u);
}

Eigen::MatrixXd dense(const FixedRankPoint& x) { return x.u * x.s.asDiagonal() * x.v.transpose(); }
Eigen::MatrixXd dense(const FixedRankPoint& x, const Tangent& t) {
  return x.u * t.m * x.v.transpose() + t.up * x.v.transpose() + x.u * t.vp.transpose();
}

struct Shape {
  Index rows;
  Index cols;
  Index rank;
};
class FixedRank : public testing::TestWithParam<Shape> {};

TEST_P(FixedRank, ProjectionIsOrthogonal) {
  const auto [rows, cols, rank] = GetParam();
  Random random(1);
  const FixedRankPoint x = random_point(rows, cols, rank, random);
  const Eigen::MatrixXd z = test::normal_matrix(rows, cols, random);
  const Tangent p = baselines::project(x, z * x.v, z.transpose() * x.u);
  const Tangent other = random_tangent(x, random);
  EXPECT_NEAR((x.u.transpose() * p.up).norm() + (x.v.transpose() * p.vp).norm(), 0, 1e-12);
  EXPECT_NEAR((z - dense(x, p)).cwiseProduct(dense(x, other)).sum(), 0, 1e-11);
  EXPECT_NEAR(baselines::inner(p, other), dense(x, p).cwiseProduct(dense(x, other)).sum(), 1e-11);
}

TEST_P(FixedRank, RetractionIsTheNearestMatrixOfTheRankAndOfFirstOrder) {
  const auto [rows, cols, rank] = GetParam();
  Random random(2);
  const FixedRankPoint x = random_point(rows, cols, rank, random);
  const Tangent t = random_tangent(x, random);
  const FixedRankPoint far = baselines::retract(x, t, 0.7);
  EXPECT_EQ(far.rank(), rank);
  EXPECT_NEAR((far.u.transpose() * far.u - Eigen::MatrixXd::Identity(rank, rank)).norm(), 0, 1e-13);
  EXPECT_NEAR((far.v.transpose() * far.v - Eigen::MatrixXd::Identity(rank, rank)).norm(), 0, 1e-13);
  const Eigen::MatrixXd moved = dense(x) + 0.7 * dense(x, t);
  const Eigen::VectorXd values = test::singular_values(moved);
  EXPECT_NEAR((far.s - values.head(rank)).norm(), 0, 1e-11);
  EXPECT_NEAR((moved - dense(far)).squaredNorm(), values.tail(values.size() - rank).squaredNorm(), 1e-10);
  // R(h t) = X + h t + O(h^2): halving h divides the error by four (or it vanishes, where every matrix has the rank).
  const auto error = [&](double h) { return (dense(baselines::retract(x, t, h)) - dense(x) - h * dense(x, t)).norm(); };
  EXPECT_NEAR((dense(baselines::retract(x, t, 0)) - dense(x)).norm(), 0, 1e-12);
  EXPECT_LT(error(1e-3), 1e-3);
  if (error(1e-3) > 1e-10) {
    EXPECT_NEAR(error(1e-3) / error(5e-4), 4, 0.1);
  }
}

TEST_P(FixedRank, TransportProjectsOntoTheNewTangentSpace) {
  const auto [rows, cols, rank] = GetParam();
  Random random(3);
  const FixedRankPoint x = random_point(rows, cols, rank, random);
  const Tangent t = random_tangent(x, random);
  const FixedRankPoint y = random_point(rows, cols, rank, random);
  const Tangent moved = baselines::transport(x, t, y);
  EXPECT_NEAR((y.u.transpose() * moved.up).norm() + (y.v.transpose() * moved.vp).norm(), 0, 1e-11);
  const Eigen::MatrixXd z = dense(x, t);
  const Tangent expected = baselines::project(y, z * y.v, z.transpose() * y.u);
  EXPECT_NEAR((dense(y, moved) - dense(y, expected)).norm(), 0, 1e-11);
  EXPECT_NEAR((dense(x, baselines::transport(x, t, x)) - z).norm(), 0, 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Shapes, FixedRank,
                         testing::Values(Shape{30, 20, 3}, Shape{5, 40, 4}, Shape{6, 6, 6}, Shape{1, 4, 1}),
                         [](const auto& tested) { return "rows" + std::to_string(tested.param.rows); });

class Smoothing : public testing::TestWithParam<double> {};

TEST_P(Smoothing, GradientPassesFiniteDifferencesInRandomTangentDirections) {
  const double lambda = GetParam();
  SparseObservations data = test::outlier_data(40, 30, 0.3, 4);
  Random random(5);
  std::vector<Real> weight(data.value.size());
  for (Real& w : weight) w = Real(0.5 + random.uniform());
  data.weight = std::move(weight);
  const Observations observations = data;
  const Execution execution(2);
  const baselines::Observed observed(observations, execution);
  baselines::SmoothedAbsolute cost(observed, lambda);
  const FixedRankPoint x = random_point(40, 30, 3, random);
  for (const double d : {1.0, 0.1}) {
    cost.value(x, d);
    const Tangent gradient = cost.gradient(x);
    for (int direction = 0; direction < 5; ++direction) {
      const Tangent t = random_tangent(x, random);
      const double h = 1e-5;
      const double difference =
          (cost.value(baselines::retract(x, t, h), d) - cost.value(baselines::retract(x, t, -h), d)) / (2 * h);
      EXPECT_NEAR(baselines::inner(gradient, t), difference, 1e-6 * std::sqrt(baselines::inner(t, t))) << d;
    }
  }
}

TEST_P(Smoothing, ConjugateGradientsLowerTheSmoothedCost) {
  const Observations observations = test::outlier_data(60, 50, 0.3, 6);
  const Execution execution(2);
  const baselines::Observed observed(observations, execution);
  baselines::SmoothedAbsolute cost(observed, GetParam());
  Random random(7);
  baselines::ConjugateGradient search(cost, 0.5, random_point(60, 50, 3, random));
  const double start = search.value();
  for (int i = 0; i < 60; ++i) {
    const double before = search.value();
    if (search.look() == 0) break;
    search.advance();
    ASSERT_LT(search.value(), before) << i;
  }
  EXPECT_LT(search.value(), 0.6 * start);
}

INSTANTIATE_TEST_SUITE_P(Lambdas, Smoothing, testing::Values(0.0, 0.05),
                         [](const auto& tested) { return tested.param > 0 ? "complement" : "none"; });

TEST(Rlrmc, RecoversARankThreeMatrixUnderOutliers) {
  const Problem problem = test::outlier_problem(120, 100, 0.4);
  const Result result = solve(problem, methods::Rlrmc{.rank = 3}, {});
  Random random(17);
  const Eigen::MatrixXd u = test::normal_matrix(120, 3, random);
  const Eigen::MatrixXd truth = u * test::normal_matrix(100, 3, random).transpose();
  EXPECT_EQ(result.solution.terms(), 3);
  EXPECT_LT((result.solution.dense() - truth).norm(), 1e-3 * truth.norm());
  EXPECT_EQ(result.status, Status::converged);
}

TEST(Rlrmc, SeesDenseAndSparseDataAlike) {
  for (const char* penalty : {"none", "complement-squared:0.01"}) {
    const Problem problem = test::outlier_problem(30, 25, 0.5, parse_penalty(penalty));
    const RunOptions options = test::at_most(20);
    const double sparse = solve(problem, methods::Rlrmc{.rank = 2}, options).objective;
    EXPECT_NEAR(solve(test::dense_version(problem), methods::Rlrmc{.rank = 2}, options).objective, sparse,
                1e-4 * sparse);
  }
}

TEST(Rlrmc, TakesTheSameBitsOnAnyNumberOfThreads) {
  const Problem problem = test::outlier_problem(400, 300, 0.4, ComplementSquaredPenalty{0.01});
  EXPECT_TRUE(test::same_on_any_thread_count(problem, methods::Rlrmc{.rank = 3}, test::at_most(15)));
}

TEST(Rlrmc, AnswersIllPosedInput) {
  const Problem problem = test::single_entry(4, 3, 2, losses::Absolute{});
  const Result one = solve(problem, methods::Rlrmc{.rank = 1}, {});
  EXPECT_NEAR(one.objective, 0, 1e-5);
  EXPECT_LT(solve(problem, methods::Rlrmc{.rank = 3}, {}).objective, 1e-5);  // more rank than data
  const std::string rank = test::usage_error(problem, methods::Rlrmc{.rank = 4});
  EXPECT_NE(rank.find("rank = 4"), std::string::npos) << rank;
  EXPECT_NE(rank.find("4 x 3"), std::string::npos) << rank;
  const std::string loss = test::usage_error(test::single_entry(4, 3, 2, losses::Huber{}), methods::Rlrmc{.rank = 1});
  EXPECT_NE(loss.find("absolute"), std::string::npos) << loss;
  Problem zero = problem;
  std::get<SparseObservations>(zero.observations).value = {0};
  EXPECT_EQ(solve(zero, methods::Rlrmc{.rank = 1}, {}).objective, 0);
}

}  // namespace
}  // namespace tracenorm
