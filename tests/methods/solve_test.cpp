#include "tracenorm/solve.hpp"
#include "methods/width_schedule.hpp"
#include "support/evaluation.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/random.hpp"
#include "support/optima.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

/// Large enough for several shards and several threads.
Problem large_problem(const Penalty& penalty = NoPenalty{}) {
  Random random(17);
  const Index rows = 400;
  const Index cols = 300;
  Eigen::MatrixXd u(rows, 3);
  Eigen::MatrixXd v(cols, 3);
  for (Index i = 0; i < rows; ++i) u.row(i) << random.normal(), random.normal(), random.normal();
  for (Index j = 0; j < cols; ++j) v.row(j) << random.normal(), random.normal(), random.normal();
  Entries entries;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (random.uniform() > 0.4) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(Real(u.row(i).dot(v.row(j)) + (random.uniform() < 0.1 ? 20 * random.normal() : 0)));
    }
  }
  return {make_sparse(rows, cols, entries), losses::Absolute{}, penalty, TraceNormBall{900}};
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

void expect_same_run(const Result& a, const Result& b) {
  ASSERT_EQ(a.trace.size(), b.trace.size());
  for (std::size_t k = 0; k < a.trace.size(); ++k) {
    EXPECT_TRUE(same_bits(a.trace[k].objective, b.trace[k].objective)) << k;
    EXPECT_TRUE(same_bits(a.trace[k].lower_bound, b.trace[k].lower_bound)) << k;
    EXPECT_TRUE(same_bits(a.trace[k].width, b.trace[k].width)) << k;
    EXPECT_TRUE(same_bits(a.trace[k].sigma, b.trace[k].sigma)) << k;
  }
  EXPECT_TRUE(same_bits(a.objective, b.objective));
  EXPECT_EQ(a.solution.left(), b.solution.left());
  EXPECT_EQ(a.solution.values(), b.solution.values());
  EXPECT_EQ(a.solution.right(), b.solution.right());
}

class SameBits : public testing::TestWithParam<std::string> {};

TEST_P(SameBits, OnAnyNumberOfThreadsAndAgain) {
  const Problem problem = large_problem(parse_penalty(GetParam()));
  RunOptions options;
  options.iterations = 25;
  options.threads = 1;
  const Result one = solve(problem, methods::FrankWolfe{}, options);
  for (const int threads : {2, 3, 5, 1}) {
    options.threads = threads;
    expect_same_run(one, solve(problem, methods::FrankWolfe{}, options));
  }
  options.seed = 2;
  EXPECT_NE(one.trace[3].sigma, solve(problem, methods::FrankWolfe{}, options).trace[3].sigma);
}

INSTANTIATE_TEST_SUITE_P(Penalties, SameBits, testing::Values("none", "l1:0.1", "complement-squared:0.01"),
                         [](const auto& tested) { return tested.param.substr(0, 2); });

TEST(Solve, StopsAtTheCertifiedGap) {
  const test::SolvedProblem& solved = test::solved_problems().front();
  RunOptions options;
  options.iterations = 50000;
  options.gap = 0.05;
  const Result result = solve(solved.problem, methods::FrankWolfe{}, options);
  EXPECT_EQ(result.status, Status::gap_reached);
  EXPECT_LE(result.relative_gap, 0.05);
  EXPECT_LT(result.iterations, 50000);
  EXPECT_LE(result.objective, 1.05 * solved.optimum + 1e-9);
}

TEST(Solve, TheCertificateCostsAtMostATenth) {
  RunOptions options;
  options.iterations = 200;
  for (const char* penalty : {"none", "l1:0.1", "complement-squared:0.01"}) {
    const Result result = solve(large_problem(parse_penalty(penalty)), methods::FrankWolfe{}, options);
    // The last proof leaves no doubt if that takes no more than a moment; this one takes 270 passes (a Gram matrix of
    // side 300 and its decomposition), and 300 more with a low-rank part.
    EXPECT_LE(result.counters.certificate_passes, 0.1 * result.counters.passes + 130 + 600) << penalty;
    EXPECT_NE(result.certificate.proof, SpectralBound::Proof::probabilistic) << penalty;
    EXPECT_GT(result.lower_bound, 0) << penalty;
  }
}

TEST(Solve, RadiusZeroIsSolvedAtOnce) {
  Problem problem = large_problem();
  problem.constraint = TraceNormBall{0};
  const Result result = solve(problem);
  EXPECT_EQ(result.status, Status::optimal);
  EXPECT_EQ(result.solution.dense().norm(), 0.0);
  EXPECT_NEAR(result.objective, result.lower_bound, 1e-6 * result.objective);
}

TEST(Solve, ASingleEntryIsFittedExactly) {
  const Problem problem{make_sparse(1, 1, {{0}, {0}, {3}}), losses::Absolute{}, NoPenalty{}, TraceNormBall{10}};
  RunOptions options;
  options.iterations = 5000;
  const Result result = solve(problem, methods::FrankWolfe{}, options);
  EXPECT_NEAR(result.objective, 0, 0.05);
  EXPECT_GE(result.lower_bound, 0);
}

TEST(Solve, ValidationReturnsTheBestIterate) {
  const Problem problem = large_problem();
  const Entries held_out{{0, 7, 50, 333}, {1, 2, 250, 8}, {0, 0, 0, 0}};
  RunOptions options;
  options.iterations = 60;
  const Result result = solve(problem, methods::FrankWolfe{}, options, {.validation = &held_out});
  EXPECT_EQ(result.solution_iteration % 10, 0);
  double best = 1e300;
  for (const Iteration& iteration : result.trace) {
    if (iteration.k % 10 == 0) best = std::min(best, iteration.validation_rmse);
  }
  EXPECT_DOUBLE_EQ(result.trace[static_cast<std::size_t>(result.solution_iteration)].validation_rmse, best);
  double squares = 0;
  for (std::size_t e = 0; e < 4; ++e) {
    const double error = result.solution.entry(held_out.row[e], held_out.col[e]) - double(held_out.value[e]);
    squares += error * error;
  }
  EXPECT_NEAR(std::sqrt(squares / 4), best, 1e-4 * (1 + best));
}

TEST(Solve, AnObserverCanStop) {
  struct Stopper : Observer {
    int seen = 0;
    bool on_iteration(const Iteration&, const RunOptions&) override { return ++seen < 5; }
  } stopper;
  const Result result = solve(large_problem(), methods::FrankWolfe{}, {}, {.observer = &stopper});
  EXPECT_EQ(result.status, Status::interrupted);
  EXPECT_EQ(result.trace.size(), 5U);
  EXPECT_GT(result.solution.terms(), 0);
}

TEST(Solve, BadOptionsAreUsageErrors) {
  const Problem problem = large_problem();
  const auto complaint = [&](const Method& method, const RunOptions& options) -> std::string {
    try {
      solve(problem, method, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "";
  };
  RunOptions options;
  options.iterations = -1;
  EXPECT_NE(complaint(methods::FrankWolfe{}, options).find("iterations = -1"), std::string::npos);
  EXPECT_NE(complaint(methods::FrankWolfe{.width = ConstantWidth{-2}}, {})
                .find("mu = -2; it must be a number that is 0 or more"),
            std::string::npos);
  EXPECT_NE(complaint(methods::FrankWolfe{.oracle_tolerance = 7}, {}).find("oracle_tolerance = 7"), std::string::npos);
  EXPECT_THROW(parse_method("newton"), Error);
  Entries outside{{400}, {0}, {0}};
  EXPECT_THROW(solve(problem, methods::FrankWolfe{}, {}, {.validation = &outside}), Error);
}

TEST(Solve, ACustomLossThatIsNotANumberIsRefused) {
  Problem problem = large_problem();
  problem.loss = losses::Custom{
      [](double x, double y) { return std::abs(x) > 1 ? std::numeric_limits<double>::quiet_NaN() : std::abs(x - y); },
      "bad",
      {}};
  EXPECT_THROW(solve(problem), Error);
}

TEST(Solve, ACustomLossThatIsNotConvexIsRefused) {
  Problem problem = large_problem();
  problem.loss = losses::Custom{[](double x, double y) { return std::sqrt(std::abs(x - y)); }, "bent", {}};
  EXPECT_THROW(solve(problem), Error);
}

TEST(Solve, ACustomLossThatTurnsIntoNoNumberIsANumericalFailure) {
  Problem problem = large_problem();
  std::atomic<int> calls = 0;
  problem.loss = losses::Custom{[&](double x, double y) {
                                  return ++calls > 1000000 ? std::numeric_limits<double>::quiet_NaN() : std::abs(x - y);
                                },
                                "bad",
                                {}};
  const Result result = solve(problem);
  EXPECT_EQ(result.status, Status::numerical_failure);
  EXPECT_TRUE(std::isinf(result.relative_gap));
}

TEST(Methods, NamesRoundTrip) {
  for (const MethodHelp& help : method_help()) EXPECT_EQ(method_name(parse_method(help.name)), help.name);
}

TEST(Width, RulesFollowTheirFormulas) {
  const Problem problem = large_problem();
  const auto f = test::make_evaluator(problem);
  WidthSchedule paper(PaperWidth{}, *f);
  EXPECT_DOUBLE_EQ(paper.next(0), 900);  // the diameter seen from zero
  const double changes[] = {5, 4, 3, 2, 1, 0.5};
  for (int k = 0; k < 6; ++k) {
    paper.observe({}, 0, changes[k]);
    const double largest = changes[std::max(0, k - 4)];  // of the last five
    EXPECT_DOUBLE_EQ(paper.next(k + 1), 2.0 / (k + 3) * largest);
  }
  WidthSchedule hybrid(HybridWidth{0.5}, *f);
  hybrid.observe({}, 0, 0.0);
  EXPECT_DOUBLE_EQ(hybrid.next(8), 0.5 * f->data_scale() / 3);
  WidthSchedule root(RootWidth{2}, *f);
  EXPECT_DOUBLE_EQ(root.next(3), 2.0 / 2);
  WidthSchedule constant(ConstantWidth{0.25}, *f);
  EXPECT_DOUBLE_EQ(constant.next(100), 0.25);
  WidthSchedule zero(ZeroWidth{}, *f);
  EXPECT_DOUBLE_EQ(zero.next(1), 0);
  // k' = 8 mn (M+1) D^2 Delta / epsilon - 1 = 8 * 120000 * 2 * 1800^2 * 4 / epsilon - 1: between 1 and 2 for this
  // epsilon.
  WidthSchedule freezing(PaperWidth{.epsilon = 8.0 * 120000 * 2 * 1800 * 1800 * 4 / 2.5}, *f);
  freezing.observe({}, 0, 6);
  EXPECT_DOUBLE_EQ(freezing.next(1), 4);
  freezing.observe({}, 0, 1);
  EXPECT_DOUBLE_EQ(freezing.next(2), 4) << "frozen after k'";
}

TEST(Width, BalancedFollowsTheLargerPartOfTheGap) {
  const Problem problem = large_problem();
  const auto f = test::make_evaluator(problem);
  const double scale = f->data_scale();
  // objective + conjugates - inner is the slack, inner + radius * sigma the linear gap; share = 1/4.
  const auto part = [](double slack) { return Linearization{100, -50, slack - 150}; };
  const double sigma = (80 + 50) / 900.0;  // a linear gap of 80
  WidthSchedule wide(BalancedWidth{}, *f);
  EXPECT_DOUBLE_EQ(wide.next(0), scale);
  wide.observe(part(80), sigma, 1000);  // four times the slack that is wanted
  EXPECT_NEAR(wide.next(1), scale / 2, 1e-9);
  WidthSchedule narrow(BalancedWidth{}, *f);
  EXPECT_DOUBLE_EQ(narrow.next(0), scale);
  narrow.observe(part(80.0 / 9), sigma, 1000);  // 4/9 of it
  EXPECT_NEAR(narrow.next(1), 1.5 * scale, 1e-9);
  WidthSchedule settled(BalancedWidth{}, *f);
  settled.observe(part(20), sigma, 1000);  // as wanted
  EXPECT_NEAR(settled.next(1), scale, 1e-9);
  // Without conjugates nothing is learnt; with nothing left to gain the width stays. The bounds still hold.
  settled.observe({100, -50, std::nan("")}, sigma, 1000);
  EXPECT_NEAR(settled.next(2), scale, 1e-9);
  settled.observe(part(0), sigma, 0);
  for (int k = 0; k < 4; ++k) settled.observe({100, -50, std::nan("")}, sigma, 0);
  EXPECT_NEAR(settled.next(1'000'000), 0.3 * scale / 1000, 1e-3 * scale / 1000);
  EXPECT_TRUE(settled.wants_conjugate(0) && settled.wants_conjugate(400) && !settled.wants_conjugate(401));
}

/// Terms that are left out of an answer are worth a five-hundredth of its gap.
TEST(Solve, CompactAnswersCostNothingThatMatters) {
  int shorter = 0;
  for (const test::SolvedProblem& solved : test::solved_problems()) {
    for (const int iterations : {30, 300}) {
      RunOptions options;
      options.iterations = iterations;
      options.threads = 1;
      const Result result = solve(solved.problem, methods::FrankWolfe{}, options);
      const Iteration& last = result.trace.back();
      const double rounding = 1e-5 * (1 + std::abs(solved.optimum));
      EXPECT_LE(result.objective - last.objective, 0.004 * (last.objective - result.lower_bound) + rounding)
          << solved.name << ' ' << iterations;
      const Eigen::Index full = std::min(result.solution.rows(), result.solution.cols());
      shorter += result.solution.terms() < std::min<Eigen::Index>(full, last.rank) ? 1 : 0;
    }
  }
  EXPECT_GE(shorter, 10);
}

TEST(Solve, SlopesMayVanishAndComeBack) {
  // Far inside a large ball slopes of the logistic loss are 1e-100 one time and 1 the next: a product that was made
  // with the size that they had before is of no use.
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Problem problem{
        test::drawn_entries(6, 5, 0.8, random, [&](Index, Index) { return random.uniform() < 0.5 ? -1.0 : 1.0; }),
        losses::Logistic{}, NoPenalty{}, TraceNormBall{1e4}};
    RunOptions options;
    options.iterations = 60;
    const Result result = solve(problem, methods::FrankWolfe{}, options);
    EXPECT_NE(result.status, Status::numerical_failure) << "seed " << seed;
    EXPECT_LT(result.objective, 40) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tracenorm
