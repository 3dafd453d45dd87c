#include "tracenorm/radius_path.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "base/random.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {
namespace {

/// A rank-two matrix with noise: a part to train on and a part to choose by.
struct Data {
  Problem problem;
  Entries validation;
};

Data noisy(double noise) {
  constexpr Index rows = 60;
  constexpr Index cols = 50;
  Random random(11);
  Eigen::MatrixXd u(rows, 2);
  Eigen::MatrixXd v(cols, 2);
  for (Eigen::Index k = 0; k < u.size(); ++k) u.data()[k] = random.normal();
  for (Eigen::Index k = 0; k < v.size(); ++k) v.data()[k] = random.normal();
  Entries train;
  Entries validation;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const double value = u.row(i).dot(v.row(j)) + noise * random.normal();
      const double draw = random.uniform();
      if (draw > 0.6) continue;
      Entries& part = draw < 0.5 ? train : validation;
      part.row.push_back(i);
      part.col.push_back(j);
      part.value.push_back(Real(value));
    }
  }
  return {{make_sparse(rows, cols, train), losses::Absolute{}, NoPenalty{}, TraceNormBall{1}}, validation};
}

double error_at(Data data, double radius) {
  data.problem.constraint.radius = radius;
  RunOptions options;
  options.iterations = 400;
  const Result result = solve(data.problem, {}, options, {.validation = &data.validation});
  return result.trace[static_cast<std::size_t>(result.solution_iteration)].validation_rmse;
}

TEST(RadiusPath, FindsARadiusAsGoodAsAGrid) {
  Data data = noisy(0.5);
  const RadiusPath path = choose_radius(data.problem, {}, {}, {.validation = &data.validation});
  ASSERT_GT(path.steps.size(), 3U);
  EXPECT_EQ(path.steps.front().radius, 0);
  EXPECT_EQ(data.problem.radius(), path.radius());
  double best_of_grid = INFINITY;
  for (int k = 0; k < 18; ++k) best_of_grid = std::min(best_of_grid, error_at(data, 10 * std::pow(1.3, k)));
  // The grid is twice as fine, and its best is the luckiest of 18: up to 1.06 times it here, 0.97 to 1.03 times with
  // other draws of the data.
  EXPECT_LT(path.steps[path.best].validation_error, 1.1 * best_of_grid);
  EXPECT_LT(path.steps[path.best].validation_error, 0.6 * path.steps.front().validation_error);
  // The path stopped because the error turned, not because radii ran out.
  EXPECT_LT(path.best, path.steps.size() - 1);
  for (std::size_t s = 2; s < path.steps.size(); ++s) EXPECT_GT(path.steps[s].radius, path.steps[s - 1].radius);
}

TEST(RadiusPath, IsTheSameEveryTimeAndOnAnyNumberOfThreads) {
  Data data = noisy(0.5);
  RunOptions options;
  options.threads = 1;
  const RadiusPath a = choose_radius(data.problem, {}, options, {.validation = &data.validation});
  options.threads = 3;
  const RadiusPath b = choose_radius(data.problem, {}, options, {.validation = &data.validation});
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t s = 0; s < a.steps.size(); ++s) {
    EXPECT_EQ(a.steps[s].validation_error, b.steps[s].validation_error);
    EXPECT_EQ(a.steps[s].objective, b.steps[s].objective);
  }
}

TEST(RadiusPath, PureNoiseIsLeftAlone) {
  Data data = noisy(0.0);
  Random random(3);
  auto& sparse = std::get<SparseObservations>(data.problem.observations);
  std::vector<Real> noise(sparse.value.size());
  for (Real& value : noise) value = Real(random.normal());
  sparse.value = noise;
  for (Real& value : data.validation.value) value = Real(random.normal());
  const RadiusPath path = choose_radius(data.problem, {}, {}, {.validation = &data.validation});
  EXPECT_LE(path.steps[path.best].validation_error, path.steps.front().validation_error);
  EXPECT_LT(path.radius(), 20);
}

/// The first directions are those of a part of the rows that no validation entry is in: the error stays exactly what it
/// is at zero, and the path must go on.
TEST(RadiusPath, DirectionsWithoutValidationEntriesSayNothing) {
  Entries train;
  Entries validation;
  const auto add = [](Entries& entries, Index row, Index col, Real value) {
    entries.row.push_back(row);
    entries.col.push_back(col);
    entries.value.push_back(value);
  };
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) add(train, i, j, 3);  // the larger block
  }
  for (Index i = 12; i < 20; ++i) {
    for (Index j = 12; j < 20; ++j) add((i + j) % 4 == 0 ? validation : train, i, j, 1);
  }
  Problem problem{make_sparse(20, 20, train), losses::Squared{1}, NoPenalty{}, TraceNormBall{0}};
  const RadiusPath path = choose_radius(problem, methods::FrankWolfe{}, {}, {.validation = &validation});
  EXPECT_EQ(path.steps[1].validation_error, path.steps[0].validation_error);
  EXPECT_EQ(path.steps[2].validation_error, path.steps[0].validation_error);
  EXPECT_LT(path.steps[path.best].validation_error, 0.5 * path.steps[0].validation_error);
}

TEST(RadiusPath, CancelledItReturnsWhatThereIs) {
  Data data = noisy(0.5);
  const std::atomic<bool> cancel{true};
  const RadiusPath path = choose_radius(data.problem, {}, {}, {.validation = &data.validation, .cancel = &cancel});
  EXPECT_LE(path.steps.size(), 2U);
  EXPECT_EQ(path.result.solution.rows(), 60);
}

TEST(RadiusPath, WhatCannotBe) {
  Data data = noisy(0.5);
  EXPECT_THROW(choose_radius(data.problem, {}, {}, {}), Error);
  EXPECT_THROW(choose_radius(data.problem, methods::Rlrmc{.rank = 2}, {}, {.validation = &data.validation}), Error);
}

TEST(WarmStart, BeginsWhereItIsTold) {
  Data data = noisy(0.1);
  data.problem.constraint.radius = 80;
  RunOptions options;
  options.iterations = 300;
  const Result first = solve(data.problem, {}, options);
  const RunHooks from_first{.start = &first.solution};
  const Result again = solve(data.problem, {}, options, from_first);
  EXPECT_NEAR(again.trace.front().objective, first.objective, 1e-4 * first.objective);
  EXPECT_LE(again.lower_bound, first.objective);
  // Too large a start is shrunk into the ball.
  data.problem.constraint.radius = 10;
  options.iterations = 0;
  const Result inside = solve(data.problem, {}, options, from_first);
  EXPECT_LE(inside.trace_norm, 10 * (1 + 1e-9));
  const LowRankMatrix wrong(3, 3);
  EXPECT_THROW(solve(data.problem, {}, options, {.start = &wrong}), Error);
}

}  // namespace
}  // namespace tracenorm
