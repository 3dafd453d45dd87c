// Solves on ranks: every rank makes the same calls and gets the same bits, which are those of one process. The ranks
// are those that mpirun has started (tests/CMakeLists.txt: two to four of them), or threads of this process.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>

#include "base/random.hpp"
#include "base/rank_share.hpp"
#include "base/rank_sums.hpp"
#include "distributed/share.hpp"
#include "model/shard_cuts.hpp"
#include "support/identifier.hpp"
#include "support/thread_ranks.hpp"
#include "tracenorm/checkpoint.hpp"
#include "tracenorm/mpi.hpp"
#include "tracenorm/solve.hpp"
#include "tracenorm/verify.hpp"

namespace tracenorm {
namespace {

constexpr Index kRows = 2600;
constexpr Index kCols = 80;  // rows are cut into seven shards at least

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
  problem.constraint.radius = 0.7 * std::sqrt(double(rows) * double(cols));
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

::testing::AssertionResult same_bits(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    return ::testing::AssertionFailure() << a.rows() << " x " << a.cols() << ", " << b.rows() << " x " << b.cols();
  }
  if (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "they differ by up to " << (a - b).cwiseAbs().maxCoeff();
}

Eigen::MatrixXd numbers_of(const std::vector<Iteration>& trace) {
  Eigen::MatrixXd numbers(static_cast<Eigen::Index>(trace.size()), 9);
  Eigen::Index row = 0;
  for (const Iteration& it : trace) {
    numbers.row(row++) << it.objective, it.lower_bound, it.width, it.step, double(it.rank), it.sigma,
        it.validation_error, it.counters.passes, it.counters.certificate_passes;
  }
  return numbers;
}

/// All that ranks have come to is what one process has come to.
void expect_same_bits(const Result& shared, const Result& alone) {
  EXPECT_EQ(shared.status, alone.status) << shared.message;
  EXPECT_NE(shared.status, Status::numerical_failure) << shared.message;
  EXPECT_TRUE(same_bits(numbers_of(shared.trace), numbers_of(alone.trace)));
  EXPECT_TRUE(same_bits(Eigen::Vector2d(shared.objective, shared.lower_bound),
                        Eigen::Vector2d(alone.objective, alone.lower_bound)));
  EXPECT_TRUE(same_bits(shared.solution.left(), alone.solution.left()));
  EXPECT_TRUE(same_bits(shared.solution.values(), alone.solution.values()));
  EXPECT_TRUE(same_bits(shared.solution.right(), alone.solution.right()));
  EXPECT_EQ(shared.certificate.proof, alone.certificate.proof);
  EXPECT_EQ(shared.dual.has_value(), alone.dual.has_value());
  if (shared.dual && alone.dual) {
    EXPECT_EQ(shared.dual->slope, alone.dual->slope);
  }
}

/// Calls work(ranks) on those that mpirun has started, or on 2, 3, 4 and 7 threads.
void on_ranks(const std::function<void(Ranks&)>& work) {
  if (mpi_ranks() != nullptr) return work(*mpi_ranks());
  for (const int size : {2, 3, 4, 7}) test::ThreadRanks::run(size, work);
}

using Solve = std::function<Result(const RunHooks&, int threads)>;

/// Solves on ranks, with one or two threads each, and alone.
void expect_same_answer(const Solve& solve_with) {
  const Result alone = solve_with({}, 1);
  std::mutex one_at_a_time;
  on_ranks([&](Ranks& ranks) {
    const Result shared = solve_with({.ranks = &ranks}, 1 + ranks.size() % 2);
    const std::lock_guard lock(one_at_a_time);
    SCOPED_TRACE(testing::Message() << "rank " << ranks.rank() << " of " << ranks.size());
    EXPECT_EQ(shared.environment.ranks, ranks.size());
    expect_same_bits(shared, alone);
  });
}

RunOptions iterations(int count, int threads) {
  RunOptions options;
  options.iterations = count;
  options.threads = threads;
  return options;
}

void expect_same_answer(const Problem& problem, const Method& method, int count) {
  expect_same_answer(
      [&](const RunHooks& hooks, int threads) { return solve(problem, method, iterations(count, threads), hooks); });
}

class RanksMethod : public testing::TestWithParam<std::string> {};

TEST_P(RanksMethod, ComesToWhatOneProcessComesTo) { expect_same_answer(some_problem(), parse_method(GetParam()), 20); }

TEST_P(RanksMethod, FollowsHeldOutEntries) {
  const Problem problem = some_problem();
  const Entries held = some_held_out();
  expect_same_answer([&](RunHooks hooks, int threads) {
    hooks.validation = &held;
    return solve(problem, parse_method(GetParam()), iterations(12, threads), hooks);
  });
}

TEST_P(RanksMethod, GoesOnFromWhatAnotherNumberOfRanksHasKept) {
  const Problem problem = some_problem();
  const Entries held = some_held_out();
  const auto run = [&](Checkpoint& kept, Ranks* ranks, int count) {
    Checkpoints checkpoints(kept, "kept", [&](const Checkpoint& now) { kept = now; }, {.seconds = 0, .leg_passes = 40});
    return solve(problem, parse_method(GetParam()), iterations(count, 1),
                 {.validation = &held, .checkpoints = &checkpoints, .ranks = ranks});
  };
  Checkpoint through;
  const Result whole = run(through, nullptr, 12);
  Checkpoint half_alone;
  run(half_alone, nullptr, 6);
  half_alone.answers.clear();
  std::mutex one_at_a_time;
  on_ranks([&](Ranks& ranks) {
    Checkpoint half = half_alone;
    const Result forth = run(half, &ranks, 12);
    Checkpoint kept;
    run(kept, &ranks, 6);
    kept.answers.clear();
    const std::lock_guard lock(one_at_a_time);
    expect_same_bits(forth, whole);
    expect_same_bits(run(kept, nullptr, 12), whole);
  });
}

INSTANTIATE_TEST_SUITE_P(All, RanksMethod, testing::Values("fwua", "rdfw", "corrective", "sccg", "sccg-sg", "hcgs"),
                         [](const auto& tested) { return test::identifier(tested.param); });

TEST(Ranks, AgreeToTheGapThatIsAskedFor) {
  for (const Problem& problem : {some_problem(), some_problem(30, 200), some_problem(300, 700)}) {
    expect_same_answer([&](const RunHooks& hooks, int threads) {
      RunOptions options = iterations(200, threads);
      options.gap = 1e-2;
      Result result = solve(problem, methods::Corrective{}, options, hooks);
      EXPECT_EQ(result.status, Status::gap_reached) << result.message;
      return result;
    });
  }
}

TEST(Ranks, RefuseMethodsThatNeedTheWholeMatrix) {
  on_ranks([](Ranks& ranks) {
    for (const char* name : {"genfb", "rlrmc", "glrl"}) {
      EXPECT_THROW(solve(some_problem(), parse_method(name), {}, {.ranks = &ranks}), Error) << name;
    }
  });
}

TEST(Ranks, MayHaveNothingToDo) {  // a matrix of one shard
  expect_same_answer(some_problem(3, 40), methods::FrankWolfe{}, 30);
}

TEST(Ranks, ProveWideMatricesToo) {  // by Gram matrices of rows, which no rank has all of
  const Problem problem = some_problem(300, 700);
  expect_same_answer([&](const RunHooks& hooks, int threads) {
    RunOptions options = iterations(15, threads);
    options.keep_dual = true;
    Result result = solve(problem, methods::Corrective{}, options, hooks);
    EXPECT_TRUE(result.dual.has_value());
    return result;
  });
}

TEST(Ranks, SolveWithOffsetsPenaltiesAndWeights) {
  Problem with_offsets = some_problem();
  with_offsets.offsets = OffsetRidge{2, 2};
  Problem penalised = some_problem();
  penalised.penalty = L1Penalty{0.05};
  Problem complement = some_problem();
  complement.penalty = ComplementSquaredPenalty{0.01};
  Problem wide_complement = some_problem(300, 700);
  wide_complement.penalty = ComplementSquaredPenalty{0.01};
  Problem norm = some_problem();
  norm.constraint.row_weight.assign(kRows, 0.5);
  norm.constraint.col_weight.assign(kCols, 2.0);
  Problem weighted = some_problem();
  auto& sparse = std::get<SparseObservations>(weighted.observations);
  std::vector<Real> weight(sparse.value.size());
  Random random(5);
  for (Real& w : weight) w = Real(0.5 + random.uniform());
  sparse.weight = Array<Real>(std::move(weight));
  for (const Problem& problem : {with_offsets, penalised, complement, wide_complement, norm, weighted}) {
    for (const char* name : {"rdfw", "corrective"}) {
      SCOPED_TRACE(name);
      expect_same_answer(problem, parse_method(name), 4);
    }
  }
}

TEST(Ranks, SolveFullMatrices) {
  Random random(3);
  std::vector<Real> links(std::size_t{kRows} * kCols);
  for (Real& link : links) link = random.uniform() < 0.2 ? Real(1) : Real(0);
  std::vector<Real> numbers = links;  // the last rows of more levels than one byte has
  for (std::size_t e = numbers.size() / 2; e < numbers.size(); ++e) numbers[e] += Real(random.uniform());
  for (std::vector<Real>& values : {std::ref(links), std::ref(numbers)}) {
    Problem problem{DenseObservations{kRows, kCols, values, {}}, losses::Squared{0.5}, L1Penalty{0.01}};
    problem.constraint.radius = 20;
    for (const char* name : {"rdfw", "corrective"}) {
      SCOPED_TRACE(name);
      expect_same_answer(problem, parse_method(name), 4);
    }
  }
}

TEST(Ranks, ProveInEveryWay) {
  std::vector<SpectralBound::Proof> proofs;
  for (const auto& [rows, cols, count] : {std::array{7000, 30, 20}, {400, 150, 40}, {3000, 700, 12}}) {
    Problem problem = some_problem(static_cast<Index>(rows), static_cast<Index>(cols));
    problem.constraint.radius = 60;
    expect_same_answer([&, steps = count](const RunHooks& hooks, int threads) {
      RunOptions options = iterations(steps, threads);
      options.certificate_share = 0.5;
      Result result = solve(problem, methods::FrankWolfe{}, options, hooks);
      if (hooks.ranks == nullptr) proofs.push_back(result.certificate.proof);
      return result;
    });
  }
  using Proof = SpectralBound::Proof;
  EXPECT_EQ(proofs, (std::vector{Proof::exact, Proof::cholesky, Proof::probabilistic}));
}

TEST(Ranks, DecomposeBlocksThatTheyShare) {  // more rows than a block of the decomposition has
  expect_same_answer(some_problem(12000, 20), parse_method("rdfw"), 12);
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
  for (const Problem& problem : {some_problem(), some_problem(300, 700), some_problem(7000, 30)}) {
    on_ranks([&](Ranks& ranks) {
      const Share share = make_share(cut_shards(problem), ranks);
      EXPECT_LT(share.first(), share.last());
      const Observations mine = distributed::rows_of(problem.observations, share.first(), share.last());
      double entries[1] = {static_cast<double>(observed(mine))};
      const auto all = static_cast<double>(observed(problem.observations));
      EXPECT_NEAR(entries[0], all / ranks.size(), all / 7);
      ranks.sum(entries);
      EXPECT_EQ(entries[0], all);
    });
  }
}

template <class Number>
void expect_sums_along_the_tree(Ranks& ranks, int shards, std::size_t width) {
  const auto number = [&](int shard, std::size_t k) {
    return Number(std::pow(10, (shard * 7 + static_cast<int>(k)) % 9) / 3);
  };
  const std::function<Number(int, int, std::size_t)> sum = [&](int first, int last, std::size_t k) {
    if (last - first == 1) return number(first, k);
    int half = 1;
    while (2 * half < last - first) half *= 2;
    return Number(sum(first, first + half, k) + sum(first + half, last, k));
  };
  ShardCuts cuts;
  for (int s = 0; s <= shards; ++s) cuts.rows.push_back(s);
  const Share share = make_share(cuts, ranks);
  RankSums sums(share.shard_cuts, ranks);
  const Shards here = shards_of(share, sums);
  std::vector<Number> parts(width * static_cast<std::size_t>(std::max(1, here.count())));
  for (int s = 0; s < here.count(); ++s) {
    for (std::size_t k = 0; k < width; ++k)
      parts[static_cast<std::size_t>(s) * width + k] = number(here.first() + s, k);
  }
  std::vector<Number> out(width);
  here.add_up(parts.data(), static_cast<Offset>(width), out.data());
  for (std::size_t k = 0; k < width; ++k) ASSERT_EQ(out[k], sum(0, shards, k)) << shards << " shards, " << k;
}

TEST(Ranks, AddAlongTheTree) {
  on_ranks([](Ranks& ranks) {
    for (const int shards : {1, 2, 5, 8, 13, 33, 64}) {
      for (const std::size_t width : {std::size_t{1}, std::size_t{128}, std::size_t{1001}}) {
        expect_sums_along_the_tree<double>(ranks, shards, width);
        expect_sums_along_the_tree<float>(ranks, shards, width);
      }
    }
  });
}

}  // namespace
}  // namespace tracenorm
