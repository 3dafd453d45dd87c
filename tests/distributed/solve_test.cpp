// Solves on the ranks that mpirun has started (tests/CMakeLists.txt: on one to four of them): every rank makes the same
// calls and gets the same bits, and what they come to is what one process comes to.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "base/random.hpp"
#include "distributed/mpi.hpp"
#include "distributed/share.hpp"
#include "support/identifier.hpp"
#include "tracenorm/checkpoint.hpp"
#include "tracenorm/solve.hpp"
#include "tracenorm/verify.hpp"

namespace tracenorm {
namespace {

constexpr Index kRows = 90;
constexpr Index kCols = 60;

/// A low-rank matrix with noise, of which a third is known; rows of very different lengths.
Problem some_problem(Index rows = kRows, Index cols = kCols) {
  Random random(7);
  const Eigen::MatrixXd left = Eigen::MatrixXd::NullaryExpr(rows, 3, [&] { return random.normal(); });
  const Eigen::MatrixXd right = Eigen::MatrixXd::NullaryExpr(cols, 3, [&] { return random.normal(); });
  Entries entries;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (random.uniform() > 0.6 * (i + 1) / rows) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(Real(left.row(i).dot(right.row(j)) + 0.1 * random.normal()));
    }
  }
  Problem problem{make_sparse(rows, cols, entries)};
  problem.constraint.radius = 60;
  return problem;
}

Entries some_held_out() {
  Random random(9);
  Entries held;
  for (int e = 0; e < 200; ++e) {
    held.row.push_back(static_cast<Index>(random.below(kRows)));
    held.col.push_back(static_cast<Index>(random.below(kCols)));
    held.value.push_back(Real(random.normal()));
  }
  return held;
}

/// Fails where ranks have different numbers.
void expect_same_everywhere(const Eigen::MatrixXd& numbers) {
  Ranks* ranks = mpi_ranks();
  if (ranks == nullptr) return;
  const auto size = static_cast<std::size_t>(numbers.size());
  const std::vector<std::byte> all = ranks->gather(std::as_bytes(std::span(numbers.data(), size)));
  ASSERT_EQ(all.size(), size * sizeof(double) * static_cast<std::size_t>(ranks->size()));
  for (int r = 0; r < ranks->size(); ++r) {
    EXPECT_EQ(std::memcmp(all.data() + static_cast<std::size_t>(r) * size * sizeof(double), numbers.data(),
                          size * sizeof(double)),
              0)
        << "rank " << r;
  }
}

/// Searches for leading vectors stop early, and sums in another order lead iterations along another way: answers agree
/// as far as they are certified, each bound holds for both, and numbers that are certified closely agree closely.
void expect_agreement(const Result& shared, const Result& alone, double slack = 0.02) {
  EXPECT_NE(shared.status, Status::numerical_failure) << shared.message;
  EXPECT_LE(shared.lower_bound, alone.objective);
  EXPECT_LE(alone.lower_bound, shared.objective);
  EXPECT_NEAR(shared.objective, alone.objective, slack * std::abs(alone.objective));
  EXPECT_EQ(shared.environment.ranks, mpi_ranks() == nullptr ? 1 : mpi_ranks()->size());
  expect_same_everywhere(shared.solution.left());
  expect_same_everywhere(shared.solution.right());
  expect_same_everywhere(Eigen::Vector3d(shared.objective, shared.lower_bound, shared.seconds));
}

class RanksMethod : public testing::TestWithParam<std::string> {};

TEST_P(RanksMethod, ComesToWhatOneProcessComesTo) {
  const Problem problem = some_problem();
  RunOptions options;
  options.iterations = 60;
  options.threads = 1;
  const Method method = parse_method(GetParam());
  expect_agreement(solve(problem, method, options, {.ranks = mpi_ranks()}), solve(problem, method, options));
}

TEST_P(RanksMethod, FollowsHeldOutEntries) {
  const Problem problem = some_problem();
  const Entries held = some_held_out();
  RunOptions options;
  options.iterations = 40;
  options.threads = 2;
  const Method method = parse_method(GetParam());
  const Result shared = solve(problem, method, options, {.validation = &held, .ranks = mpi_ranks()});
  const Result alone = solve(problem, method, options, {.validation = &held});
  ASSERT_EQ(shared.trace.size(), alone.trace.size());
  expect_agreement(shared, alone, 0.05);
  EXPECT_NEAR(shared.trace[1].validation_rmse, alone.trace[1].validation_rmse, 1e-6);
  for (std::size_t k = 0; k < alone.trace.size(); ++k) {
    EXPECT_NEAR(shared.trace[k].validation_rmse, alone.trace[k].validation_rmse, 0.1) << k;
  }
}

TEST_P(RanksMethod, GoesOnFromWhatAnotherNumberOfRanksHasKept) {
  const Problem problem = some_problem();
  const Entries held = some_held_out();
  RunOptions options;
  options.iterations = 40;
  options.threads = 1;
  const Method method = parse_method(GetParam());
  const auto run = [&](Checkpoint& kept, Ranks* ranks, int iterations) {
    Checkpoints checkpoints(kept, "kept", [&](const Checkpoint& now) { kept = now; }, {.seconds = 0, .leg_passes = 40});
    options.iterations = iterations;
    return solve(problem, method, options, {.validation = &held, .checkpoints = &checkpoints, .ranks = ranks});
  };
  Checkpoint alone;
  Checkpoint shared;
  const Result whole = run(alone, nullptr, 40);
  expect_agreement(run(shared, mpi_ranks(), 40), whole);
  Checkpoint first_alone;
  run(first_alone, nullptr, 20);
  first_alone.answers.clear();
  expect_agreement(run(first_alone, mpi_ranks(), 40), whole);
  Checkpoint first_shared;
  run(first_shared, mpi_ranks(), 20);
  first_shared.answers.clear();
  const Result back = run(first_shared, nullptr, 40);
  EXPECT_NEAR(back.objective, whole.objective, 0.02 * std::abs(whole.objective));
}

INSTANTIATE_TEST_SUITE_P(All, RanksMethod, testing::Values("fwua", "rdfw", "corrective", "sccg", "sccg-sg", "hcgs"),
                         [](const auto& tested) { return test::identifier(tested.param); });

TEST(Ranks, AgreeToTheGapThatIsAskedFor) {
  RunOptions options;
  options.iterations = 500;
  options.gap = 2e-6;  // entries in Real are rounded: without optimisation 1.3e-6 were left
  for (const Problem& problem : {some_problem(), some_problem(30, 200)}) {
    const Result shared = solve(problem, methods::Corrective{}, options, {.ranks = mpi_ranks()});
    EXPECT_EQ(shared.status, Status::gap_reached) << shared.message;
    expect_agreement(shared, solve(problem, methods::Corrective{}, options), 2e-6);
  }
}

TEST(Ranks, RefuseMethodsThatNeedTheWholeMatrix) {
  if (mpi_ranks() == nullptr) GTEST_SKIP() << "not started among ranks";
  for (const char* name : {"genfb", "rlrmc", "glrl"}) {
    EXPECT_THROW(solve(some_problem(), parse_method(name), {}, {.ranks = mpi_ranks()}), Error) << name;
  }
}

TEST(Ranks, RefuseFewerRowsThanThereAre) {
  if (mpi_ranks() == nullptr) GTEST_SKIP() << "not started among ranks";
  Problem problem{make_sparse(1, 3, Entries{{0, 0}, {0, 1}, {1, 2}})};
  problem.constraint.radius = 1;
  EXPECT_THROW(solve(problem, methods::FrankWolfe{}, {}, {.ranks = mpi_ranks()}), Error);
}

TEST(Ranks, ProveWideMatricesToo) {  // by Gram matrices of rows, which no rank has all of
  const Problem problem = some_problem(30, 200);
  RunOptions options;
  options.iterations = 50;
  options.keep_dual = true;
  const Result shared = solve(problem, methods::Corrective{}, options, {.ranks = mpi_ranks()});
  expect_agreement(shared, solve(problem, methods::Corrective{}, options));
  ASSERT_TRUE(shared.dual.has_value());
  EXPECT_EQ(shared.dual->slope.size(), static_cast<std::size_t>(observed(problem.observations)));
}

TEST(Ranks, SolveWithOffsetsPenaltiesAndWeights) {
  RunOptions options;
  options.iterations = 40;
  Problem with_offsets = some_problem();
  with_offsets.offsets = OffsetRidge{2, 2};
  Problem penalised = some_problem();
  penalised.penalty = L1Penalty{0.05};
  Problem complement = some_problem();
  complement.penalty = ComplementSquaredPenalty{0.01};
  Problem weighted = some_problem();
  weighted.constraint.row_weight.assign(kRows, 0.5);
  weighted.constraint.col_weight.assign(kCols, 2.0);
  for (const Problem& problem : {with_offsets, penalised, complement, weighted}) {
    for (const char* name : {"fwua", "rdfw", "corrective"}) {
      SCOPED_TRACE(name);
      expect_agreement(solve(problem, parse_method(name), options, {.ranks = mpi_ranks()}),
                       solve(problem, parse_method(name), options));
    }
  }
}

TEST(Ranks, StopTogether) {
  Ranks* ranks = mpi_ranks();
  const bool last = ranks == nullptr || ranks->rank() + 1 == ranks->size();
  const std::atomic<bool> stop{last};  // one of them is told
  RunOptions options;
  options.iterations = 100000;
  const Result result = solve(some_problem(), methods::FrankWolfe{}, options, {.cancel = &stop, .ranks = ranks});
  EXPECT_EQ(result.status, Status::interrupted);
  const std::atomic<bool> go_on{false};
  options.seconds = 0.2;
  const Result timed = solve(some_problem(), methods::FrankWolfe{}, options, {.cancel = &go_on, .ranks = ranks});
  EXPECT_EQ(timed.status, Status::time_limit);
  expect_same_everywhere(timed.solution.left());
}

TEST(Ranks, ShareRowsByEntries) {
  Ranks* ranks = mpi_ranks();
  if (ranks == nullptr) GTEST_SKIP() << "not started among ranks";
  const Problem problem = some_problem();
  const distributed::Share share = distributed::make_share(problem.observations, *ranks);
  const Observations mine = distributed::rows_of(problem.observations, share.first(), share.last());
  double entries[1] = {static_cast<double>(observed(mine))};
  EXPECT_NEAR(entries[0], static_cast<double>(observed(problem.observations)) / ranks->size(), kCols);
  ranks->sum(entries);
  EXPECT_EQ(entries[0], static_cast<double>(observed(problem.observations)));
}

TEST(Ranks, AddInTheirOrder) {
  Ranks* ranks = mpi_ranks();
  if (ranks == nullptr) GTEST_SKIP() << "not started among ranks";
  for (const std::size_t size : {std::size_t{1}, std::size_t{127}, std::size_t{1000}, std::size_t{1001}}) {
    const auto number = [&](int rank, std::size_t k) { return Real(std::pow(10, (rank * 7 + int(k)) % 9) / 3); };
    std::vector<Real> numbers(size);
    for (std::size_t k = 0; k < size; ++k) numbers[k] = number(ranks->rank(), k);
    ranks->sum(std::span(numbers));
    for (std::size_t k = 0; k < size; ++k) {
      Real expected = number(0, k);
      for (int r = 1; r < ranks->size(); ++r) expected += number(r, k);
      EXPECT_EQ(numbers[k], expected);
    }
  }
}

}  // namespace
}  // namespace tracenorm
