// Correctness with an outside witness: optima of a cone solver that shares no code with us
// (tests/fixtures/make_optima.py).
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <set>

#include "methods/width_schedule.hpp"
#include "support/dense_svd.hpp"
#include "support/evaluation.hpp"
#include "support/identifier.hpp"
#include "support/optima.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm {
namespace {

using test::SolvedProblem;

double scale(const SolvedProblem& solved) { return std::max(1.0, std::abs(solved.optimum)); }

/// Lower bound <= optimum <= objective at every recorded iteration. The bound is proved in double; objectives are sums
/// over entries kept in Real, whose rounding adds up over the moves between two rewritings.
void expect_bracketed(const SolvedProblem& solved, const Result& result) {
  const double slack = sizeof(Real) == 4 ? 1e-5 * scale(solved) : 1e-9 * scale(solved);
  for (const Iteration& iteration : result.trace) {
    ASSERT_LE(iteration.lower_bound, solved.optimum + 1e-9 * scale(solved)) << "at iteration " << iteration.k;
    ASSERT_GE(iteration.objective, solved.optimum - solved.accuracy - slack) << "at iteration " << iteration.k;
  }
  EXPECT_LE(result.lower_bound, solved.optimum + 1e-9 * scale(solved));
  EXPECT_GE(result.objective, solved.optimum - solved.accuracy - slack);
}

Result run(const SolvedProblem& solved, const WidthRule& width, int iterations) {
  RunOptions options;
  options.iterations = iterations;
  options.threads = 1;
  return solve(solved.problem, methods::FrankWolfe{.width = width}, options);
}

// Frank-Wolfe steps are long when the radius is far larger than the solution needs, and a kinked loss then converges
// slowly. These five have an inactive constraint; for them the bound is exact (each entry minimised on its own) and the
// objective is held to a weaker standard.
const std::set<std::string> kInactiveAndKinked = {"absolute-none-6x5-reachable", "absolute-l1-9x14-inactive",
                                                  "quantile-l1-5x8-inactive", "epsilon-insensitive-l1-6x5-inactive",
                                                  "absolute-complement-squared-12x9-inactive"};

// Where the paper's own width stalls more than one percent above the optimum (as it may: there is no proof against it).
const std::set<std::string> kPaperStalls = {"absolute-none-15x4-c", "absolute-complement-squared-5x8-a",
                                            "absolute-complement-squared-12x9-inactive"};

class Witness : public testing::TestWithParam<SolvedProblem> {};

TEST_P(Witness, HybridWidthReachesTheOptimum) {
  const SolvedProblem& solved = GetParam();
  const Result result = run(solved, HybridWidth{}, 20000);
  expect_bracketed(solved, result);
  const bool slow = kInactiveAndKinked.contains(solved.name);
  const double excess = (result.objective - solved.optimum) / scale(solved);
  EXPECT_LE(excess, slow ? 0.05 : 0.002);
  // A relative gap says nothing when the optimum itself is zero.
  if (solved.optimum > 1e-6) {
    EXPECT_LE(result.relative_gap, 0.01);
  }
}

/// Where the default stands after 5000 iterations: at most 0.0027 above the optimum, with a certified gap of at most
/// 0.0075, but for these (the largest of what three instruction sets measured, in parentheses).
struct Reached {
  double excess = 0.003;
  double gap = 0.01;
};
const std::map<std::string, Reached> kDefaultIsSlow = {
    // Inactive and kinked: the atoms are far larger than the solution, so that every step throws entries off their
    // kinks. The bound is exact, and the gap is the excess.
    {"absolute-complement-squared-12x9-inactive", {0.16, kInfinity}},  // (0.133 of an optimum of zero)
    {"absolute-none-6x5-reachable", {0.025, kInfinity}},               // (0.0188, likewise)
    {"absolute-l1-9x14-inactive", {0.045, 0.045}},                     // (0.0376)
    {"quantile-l1-5x8-inactive", {0.035, 0.035}},                      // (0.0264)
    {"epsilon-insensitive-l1-6x5-inactive", {0.009, 0.01}},            // (0.0056 to 0.0072 by instruction set)
    {"hinge-l1-5x8-inactive", {0.0055, 0.01}},                         // (0.0044)
    // The average of the slopes is behind: the objective is as near as elsewhere.
    {"quantile-none-6x5-a", {0.003, 0.025}},                // (0.0017, 0.0210)
    {"absolute-complement-squared-5x8-a", {0.003, 0.016}},  // (0.0027, 0.0137)
};

/// What is shipped: no option is given but the number of iterations.
TEST_P(Witness, TheDefaultReachesTheOptimum) {
  const SolvedProblem& solved = GetParam();
  RunOptions options;
  options.iterations = 5000;
  options.threads = 1;
  const Result result = solve(solved.problem, methods::FrankWolfe{}, options);
  expect_bracketed(solved, result);
  const auto slow = kDefaultIsSlow.find(solved.name);
  const Reached reached = slow != kDefaultIsSlow.end() ? slow->second : Reached{};
  EXPECT_LE((result.objective - solved.optimum) / scale(solved), reached.excess);
  if (solved.optimum > 1e-6) {
    EXPECT_LE(result.relative_gap, reached.gap);
  }
}

TEST_P(Witness, PaperWidthComesWithinOnePercent) {
  const SolvedProblem& solved = GetParam();
  const Result result = run(solved, PaperWidth{}, 20000);
  expect_bracketed(solved, result);
  const double excess = (result.objective - solved.optimum) / scale(solved);
  EXPECT_LE(excess, kPaperStalls.contains(solved.name) ? 0.05 : 0.01);
}

TEST_P(Witness, NoWidthRuleViolatesItsBounds) {
  const SolvedProblem& solved = GetParam();
  for (const WidthRule& width : {WidthRule(ConstantWidth{0.01}), WidthRule(ConstantWidth{1.0}), WidthRule(ZeroWidth{}),
                                 WidthRule(RootWidth{}), WidthRule(PaperWidth{.epsilon = 1e7})}) {
    expect_bracketed(solved, run(solved, width, 500));
  }
}

TEST_P(Witness, LineSearchNeverRaisesTheObjective) {
  const SolvedProblem& solved = GetParam();
  RunOptions options;
  options.iterations = 300;
  options.threads = 1;
  const Result result = solve(solved.problem, methods::FrankWolfe{.step = methods::StepRule::line_search}, options);
  expect_bracketed(solved, result);
  for (std::size_t k = 1; k < result.trace.size(); ++k) {
    EXPECT_LE(result.trace[k].objective, result.trace[k - 1].objective + 1e-5 * scale(solved)) << k;
  }
}

/// Checks the trace norm of every iterate with a dense SVD, through the factors of a run stopped at each k.
TEST_P(Witness, EveryIterateIsFeasible) {
  const SolvedProblem& solved = GetParam();
  const auto f = test::make_evaluator(solved.problem);
  WidthSchedule width(HybridWidth{}, *f);
  const double radius = solved.problem.radius();
  for (int k = 0; k < 300; ++k) {
    f->linearize(width.next(k), false);
    f->aim(f->leading_atom({1e-2 / (k + 1), 60}).atom);
    width.observe({}, 0, f->move(2.0 / (k + 2)));
    const double norm = test::singular_values(test::iterate(*f)).sum();
    ASSERT_LE(norm, radius * (1 + 1e-6)) << "after step " << k;
  }
}

TEST_P(Witness, TheReturnedSolutionIsFeasibleAndItsObjectiveIsTheReportedOne) {
  const SolvedProblem& solved = GetParam();
  const Result result = run(solved, HybridWidth{}, 100);
  const Eigen::MatrixXd dense = result.solution.dense();
  const double norm = test::singular_values(dense).sum();
  EXPECT_LE(norm, solved.problem.radius() * (1 + 1e-6));
  EXPECT_NEAR(norm, result.trace_norm, 1e-9 * (1 + norm));
  EXPECT_NEAR(objective(solved.problem, result.solution), result.objective, 1e-6 * scale(solved));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Witness, testing::ValuesIn(test::solved_problems()),
                         [](const auto& tested) { return test::identifier(tested.param.name); });

TEST(WitnessSet, CoversEveryLossAndPenalty) {
  std::set<std::string> seen;
  for (const SolvedProblem& solved : test::solved_problems()) {
    const std::string loss = to_string(solved.problem.loss);
    const std::string penalty = to_string(solved.problem.penalty);
    seen.insert(loss.substr(0, loss.find(':')) + "+" + penalty.substr(0, penalty.find(':')));
  }
  EXPECT_EQ(seen.size(), loss_help().size() * 3);
  EXPECT_GE(test::solved_problems().size(), 40U);
}

TEST(Custom, ALossGivenByItsValuesReachesTheSameOptimumAsTheBuiltInOne) {
  const SolvedProblem& solved = test::solved_problems().front();
  ASSERT_EQ(to_string(solved.problem.loss), "absolute");
  Problem problem = solved.problem;
  problem.loss = losses::Custom{[](double x, double y) { return std::abs(x - y); }, "absolute by values", {}};
  RunOptions options;
  options.iterations = 2000;
  const Result result = solve(problem, methods::FrankWolfe{}, options);
  EXPECT_NEAR(result.objective, run(solved, HybridWidth{}, 2000).objective, 0.01 * scale(solved));
  EXPECT_LE(result.lower_bound, solved.optimum + 1e-6);
  EXPECT_GE(result.lower_bound, 0.9 * solved.optimum);
}

/// The absolute loss on blocks, which counts how often it is called.
Loss absolute_on_blocks(std::atomic<int>& calls) {
  return losses::Custom::on_blocks([&calls](const double* x, const double* y, double* out, std::size_t count) {
    ++calls;
    for (std::size_t i = 0; i < count; ++i) out[i] = std::abs(x[i] - y[i]);
  });
}

TEST(Custom, EveryPenaltyAndWeightIsMetAsByTheBuiltInLoss) {
  std::atomic<int> calls{0};
  int met = 0;
  for (const SolvedProblem& solved : test::solved_problems()) {
    if (!std::holds_alternative<losses::Absolute>(solved.problem.loss)) continue;
    Problem problem = solved.problem;
    problem.loss = absolute_on_blocks(calls);
    const auto custom = test::make_evaluator(problem);
    const auto built_in = test::make_evaluator(solved.problem);
    for (int k = 0; k < 4; ++k) {
      const Linearization a = custom->linearize(0.3, true);
      const Linearization b = built_in->linearize(0.3, true);
      const double tolerance = 1e-5 * (1 + std::abs(b.objective));
      EXPECT_NEAR(a.objective, b.objective, tolerance) << solved.name;
      EXPECT_NEAR(a.inner, b.inner, tolerance) << solved.name;
      EXPECT_NEAR(a.conjugate_sum, b.conjugate_sum, tolerance) << solved.name;
      EXPECT_NEAR(custom->zero_conjugate_sum(), built_in->zero_conjugate_sum(), tolerance) << solved.name;
      const Atom atom = built_in->leading_atom({}).atom;
      const double t[] = {0.0, 0.25, 1.0};
      SegmentPoint p[3];
      SegmentPoint q[3];
      custom->aim(atom);
      built_in->aim(atom);
      custom->objective_at(t, p);
      built_in->objective_at(t, q);
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(p[i].value, q[i].value, tolerance) << solved.name;
      custom->move(0.5);
      built_in->move(0.5);
    }
    ++met;
  }
  EXPECT_GE(met, 6);
}

TEST(Custom, IsCalledOnBlocks) {
  std::atomic<int> calls{0};
  Problem problem = test::solved_problems().front().problem;
  problem.loss = absolute_on_blocks(calls);
  const auto evaluator = test::make_evaluator(problem);
  calls = 0;
  evaluator->linearize(0.3, false);
  EXPECT_EQ(calls, 3);  // here, above and below: not once per entry
}

}  // namespace
}  // namespace tracenorm
