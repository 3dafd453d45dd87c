// Line searches against fine grids, on convex functions with kinks.
#include "methods/line_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/evaluation.hpp"
#include "support/identifier.hpp"
#include "support/optima.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

using test::SolvedProblem;

constexpr int kGrid = 4000;

/// What `ask` says at kGrid + 1 points of [0, 1].
template <class Number, class Ask>
std::vector<Number> on_grid(Ask&& ask) {
  std::vector<Number> all(kGrid + 1);
  for (std::size_t from = 0; from < all.size(); from += kSegmentPoints) {
    const std::size_t count = std::min<std::size_t>(kSegmentPoints, all.size() - from);
    double t[kSegmentPoints];
    for (std::size_t p = 0; p < count; ++p) t[p] = double(from + p) / kGrid;
    ask(std::span<const double>(t, count), std::span<Number>(all.data() + from, count));
  }
  return all;
}

double objective_at(Evaluator& f, double t) {
  SegmentPoint point{};
  f.objective_at({&t, 1}, {&point, 1});
  return point.value;
}

double smoothed_derivative_at(Evaluator& f, double t, double width) {
  double derivative = 0;
  f.smoothed_derivatives_at({&t, 1}, width, {&derivative, 1});
  return derivative;
}

class Search : public testing::TestWithParam<SolvedProblem> {
 protected:
  /// A few Frank-Wolfe steps from zero, then aims at the atom after them.
  void walk(Evaluator& f, int steps) {
    for (int k = 0; k <= steps; ++k) {
      f.linearize(0.1, false);
      f.aim(f.leading_atom({1e-3, 60}).atom);
      if (k < steps) f.move(2.0 / (k + 3));
    }
  }
  /// Aims at a matrix in the ball that has nothing to do with the data. It must live as long as the aim.
  FactoredMatrix anywhere(Evaluator& f, Random& random) {
    FactoredMatrix target(f.panels(), LowRankMatrix(test::normal_matrix(f.rows(), 2, random), Eigen::Vector2d(1, 0.5),
                                                    test::normal_matrix(f.cols(), 2, random)));
    target.compress();
    target.scale(random.uniform() * f.radius() / target.trace_norm_bound());
    return target;
  }
};

TEST_P(Search, FindsWhatAFineGridFinds) {
  for (const int steps : {0, 3, 12}) {
    const auto f = test::make_evaluator(GetParam().problem);
    walk(*f, steps);
    const double t = line_search(*f);
    ASSERT_GE(t, 0);
    ASSERT_LE(t, 1);
    const auto grid = on_grid<SegmentPoint>([&](auto points, auto out) { f->objective_at(points, out); });
    double least = kInfinity;
    for (const SegmentPoint& point : grid) least = std::min(least, point.value);
    EXPECT_LE(objective_at(*f, t), least + 1e-6 * (1 + std::abs(least))) << steps << " steps";
  }
}

TEST_P(Search, StaysWhereNothingIsBetter) {
  const auto f = test::make_evaluator(GetParam().problem);
  walk(*f, 2);
  Atom atom = f->leading_atom({1e-3, 60}).atom;
  // The other way: the objective rises from the start, or the atom was worth nothing.
  atom.weight = -atom.weight;
  f->aim(atom);
  const double here = objective_at(*f, 0);
  const double t = line_search(*f);
  EXPECT_LE(objective_at(*f, t), here);
  const auto grid = on_grid<SegmentPoint>([&](auto points, auto out) { f->objective_at(points, out); });
  const bool rises = std::all_of(grid.begin() + 1, grid.end(), [&](const auto& point) { return point.value > here; });
  if (rises) {
    EXPECT_EQ(t, 0);
  }
}

TEST_P(Search, TheSmoothedOneStopsAtTheLastPointThatSurelyFalls) {
  for (const double width : {0.5, 0.01}) {
    for (const int steps : {0, 3, 12}) {
      const auto f = test::make_evaluator(GetParam().problem);
      walk(*f, steps);
      const double t = smoothed_line_search(*f, width);
      // The derivative is a sum of up to 720 terms in single precision.
      const double rounding = 1e-5 * (1 + std::abs(smoothed_derivative_at(*f, 0, width)));
      if (t > 0) {
        EXPECT_LE(smoothed_derivative_at(*f, t, width), rounding) << width << ' ' << steps;
      }
      if (t < 1) {
        EXPECT_GE(smoothed_derivative_at(*f, std::min(1.0, t + 4e-5), width), -rounding) << width << ' ' << steps;
      }
    }
  }
}

TEST_P(Search, DescentIsNeverClaimedWhereTheSmoothedObjectiveRose) {
  Random random(5);
  for (const double width : {0.5, 0.05}) {
    const auto f = test::make_evaluator(GetParam().problem);
    walk(*f, 3);
    for (int trial = 0; trial < 10; ++trial) {
      const FactoredMatrix target = anywhere(*f, random);
      f->aim(target.copy());
      const bool claimed = smoothed_descent(*f, width);
      const auto grid = on_grid<double>([&](auto t, auto out) { f->smoothed_derivatives_at(t, width, out); });
      double change = -(grid.front() + grid.back()) / 2;  // the trapezoidal rule
      double size = 0;
      for (const double derivative : grid) {
        change += derivative;
        size += std::abs(derivative);
      }
      if (claimed) {
        EXPECT_LE(change, 1e-5 * size) << width << ' ' << trial;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Search, testing::ValuesIn(test::solved_problems()),
                         [](const auto& tested) { return test::identifier(tested.param.name); });

TEST(SmoothedDescent, IsClaimedWhereItIsClearAndDeniedWhereItIsNot) {
  const Problem& problem = test::solved_problems().front().problem;
  const auto f = test::make_evaluator(problem);
  f->linearize(0.1, false);
  Atom atom = f->leading_atom({1e-6, 200}).atom;
  atom.weight *= 0.05;  // a short way down
  f->aim(atom);
  EXPECT_TRUE(smoothed_descent(*f, 0.1));
  atom.weight = -atom.weight;
  f->aim(atom);
  EXPECT_FALSE(smoothed_descent(*f, 0.1));
}

}  // namespace
}  // namespace tracenorm
