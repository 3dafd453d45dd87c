// A run that goes on from any of its checkpoints ends with the bits of one that never stopped.
#include "tracenorm/checkpoint.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "cuda/backend.hpp"
#include "support/random_matrices.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/fit.hpp"
#include "tracenorm/options.hpp"

namespace tracenorm {
namespace {

SparseObservations low_rank_entries(Index rows, Index cols, double share) {
  Random random(11);
  const Eigen::MatrixXd x = test::normal_matrix(rows, 3, random) * test::normal_matrix(3, cols, random);
  return test::drawn_entries(rows, cols, share, random, [&](Index i, Index j) {
    return x(i, j) + 0.3 * random.normal() + (random.uniform() < 0.05 ? 10 : 0);
  });
}

Problem problem_for(const std::string& method) {
  Problem problem{low_rank_entries(80, 60, 0.5), losses::Absolute{}, NoPenalty{}, TraceNormBall{150}};
  if (method == "genfb") problem.loss = losses::Huber{0.5};
  return problem;
}

void expect_same(const Result& a, const Result& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.lower_bound, b.lower_bound);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.solution_iteration, b.solution_iteration);
  EXPECT_EQ(a.counters.passes, b.counters.passes);
  EXPECT_EQ(a.solution.left(), b.solution.left());
  EXPECT_EQ(a.solution.values(), b.solution.values());
  EXPECT_EQ(a.solution.right(), b.solution.right());
  EXPECT_EQ(a.offsets.row, b.offsets.row);
  EXPECT_EQ(a.offsets.col, b.offsets.col);
  EXPECT_EQ(a.dual.has_value(), b.dual.has_value());
  if (a.dual && b.dual) {
    EXPECT_EQ(a.dual->slope, b.dual->slope);
  }
  ASSERT_EQ(a.trace.size(), b.trace.size());
  for (std::size_t k = 0; k < a.trace.size(); ++k) {
    EXPECT_EQ(a.trace[k].objective, b.trace[k].objective) << k;
    EXPECT_EQ(a.trace[k].width, b.trace[k].width) << k;
    EXPECT_EQ(a.trace[k].lower_bound, b.trace[k].lower_bound) << k;
  }
}

constexpr CheckpointOptions kEveryLeg{.seconds = 0, .leg_passes = 60};

/// Runs solves or fits with checkpoints at every opportunity.
template <class Run>
auto run_with(Run&& run, const Checkpoint& from, std::vector<Checkpoint>* written = nullptr,
              const CheckpointOptions& options = kEveryLeg) {
  Checkpoints checkpoints(
      from, "'it'",
      [&](const Checkpoint& checkpoint) {
        if (written != nullptr) written->push_back(checkpoint);
      },
      options);
  RunHooks hooks;
  hooks.checkpoints = &checkpoints;
  return run(hooks);
}

class CheckpointsOfMethods : public testing::TestWithParam<std::string> {};

TEST_P(CheckpointsOfMethods, AnyOfThemLeadsToTheSameBits) {
  const std::string name = GetParam();
  GivenOptions given;
  if (name == "genfb") given = {{"trace_penalty", 3.0}};
  if (name == "rlrmc") given = {{"rank", std::int64_t{3}}, {"inner", std::int64_t{12}}};
  if (name == "glrl") given = {{"rank", std::int64_t{3}}};
  const Method method = make_method(name, given);
  const Problem problem = problem_for(name);
  RunOptions options;
  options.iterations = 60;
  options.threads = 2;
  options.keep_dual = true;
  const auto run = [&](const RunHooks& hooks) { return solve(problem, method, options, hooks); };
  std::vector<Checkpoint> written;
  const Result undisturbed = run_with(run, {}, &written);
  ASSERT_GE(written.size(), 3U) << "legs are too long for this test";
  for (const Checkpoint& checkpoint : written) expect_same(run_with(run, checkpoint), undisturbed);
  // Cut into legs it is another run, but about as good a one as in one piece.
  const Result whole = solve(problem, method, options);
  EXPECT_NEAR(undisturbed.objective, whole.objective, 0.05 * whole.objective);
}

INSTANTIATE_TEST_SUITE_P(Every, CheckpointsOfMethods,
                         testing::Values("fwua", "rdfw", "corrective", "sccg", "sccg-sg", "hcgs", "genfb", "rlrmc",
                                         "glrl"),
                         [](const auto& method) {
                           std::string name = method.param;
                           std::erase(name, '-');
                           return name;
                         });

void expect_same_bits_with_penalties_weights_and_validation(const std::string& backend) {
  Problem problem = problem_for("fwua");
  Entries held;
  Random random(3);
  for (int e = 0; e < 200; ++e) {
    held.row.push_back(static_cast<Index>(random.below(80)));
    held.col.push_back(static_cast<Index>(random.below(60)));
    held.value.push_back(Real(random.normal()));
  }
  for (const Penalty& penalty :
       {Penalty{NoPenalty{}}, Penalty{L1Penalty{0.05}}, Penalty{ComplementSquaredPenalty{0.01}}}) {
    problem.penalty = penalty;
    if (std::holds_alternative<NoPenalty>(penalty)) {
      problem.constraint = weighted_ball(150, {0.5, 0.5}, problem.observations);
    } else {
      problem.constraint = TraceNormBall{150};
    }
    for (const Method& method : {Method{methods::FrankWolfe{}}, Method{methods::Corrective{}}}) {
      RunOptions options;
      options.iterations = 40;
      options.backend = backend;
      const auto run = [&](RunHooks hooks) {
        hooks.validation = &held;
        return solve(problem, method, options, hooks);
      };
      std::vector<Checkpoint> written;
      const Result undisturbed = run_with(run, {}, &written);
      ASSERT_GE(written.size(), 2U);
      expect_same(run_with(run, written[written.size() / 2]), undisturbed);
    }
  }
}

TEST(CheckpointsOfSolves, WithPenaltiesWeightsAndValidation) {
  expect_same_bits_with_penalties_weights_and_validation("cpu");
}

TEST(CheckpointsOfSolves, OnACudaDevice) {
  const CudaDevices devices = cuda_devices();
  if (!devices.none.empty()) GTEST_SKIP() << devices.none;
  expect_same_bits_with_penalties_weights_and_validation("cuda");
}

TEST(CheckpointsOfSolves, OnAnyNumberOfThreadsAndWithAnyClock) {
  const Problem problem = problem_for("fwua");
  RunOptions options;
  options.iterations = 60;
  options.threads = 1;
  const auto run = [&](const RunHooks& hooks) { return solve(problem, methods::FrankWolfe{}, options, hooks); };
  std::vector<Checkpoint> written;
  const Result one = run_with(run, {}, &written);
  options.threads = 3;
  expect_same(run_with(run, written.front()), one);
  // Who never writes cuts at the same places.
  std::vector<Checkpoint> none;
  expect_same(run_with(run, {}, &none, {.seconds = 1e9, .leg_passes = kEveryLeg.leg_passes}), one);
  EXPECT_TRUE(none.empty());
}

TEST(CheckpointsOfSolves, MoreIterationsAreAllowed) {
  const Problem problem = problem_for("fwua");
  RunOptions options;
  options.iterations = 30;
  const auto run = [&](const RunHooks& hooks) { return solve(problem, methods::FrankWolfe{}, options, hooks); };
  std::vector<Checkpoint> written;
  run_with(run, {}, &written);
  Checkpoint under_way = written.front();
  ASSERT_FALSE(under_way.current.empty());
  options.iterations = 50;
  const Result longer = run_with(run, under_way);
  EXPECT_EQ(longer.iterations, 50);
  expect_same(longer, run_with(run, {}));
}

TEST(CheckpointsOfSolves, InterruptedOnesGoOn) {
  const Problem problem = problem_for("corrective");
  RunOptions options;
  options.iterations = 40;
  std::atomic<bool> cancel{false};
  class Canceller final : public Observer {
   public:
    explicit Canceller(std::atomic<bool>& flag) : flag_(flag) {}
    bool on_iteration(const Iteration& iteration, const RunOptions&) override {
      if (iteration.k == 17) flag_ = true;
      return true;
    }

   private:
    std::atomic<bool>& flag_;
  } canceller(cancel);
  const auto run = [&](const RunHooks& hooks) { return solve(problem, methods::FrankWolfe{}, options, hooks); };
  const Result undisturbed = run_with(run, {});
  std::vector<Checkpoint> written;
  const Result stopped = run_with(
      [&](RunHooks hooks) {
        hooks.observer = &canceller;
        hooks.cancel = &cancel;
        return run(hooks);
      },
      {}, &written, {.seconds = 1e9, .leg_passes = kEveryLeg.leg_passes});
  EXPECT_EQ(stopped.status, Status::interrupted);
  ASSERT_EQ(written.size(), 1U) << "what there is is to be written at once";
  EXPECT_FALSE(written.front().current.empty());
  expect_same(run_with(run, written.front()), undisturbed);
}

TEST(CheckpointsOfSolves, ThoseOfOthersAreRefused) {
  Problem problem = problem_for("fwua");
  RunOptions options;
  options.iterations = 30;
  const auto run = [&](const RunHooks& hooks) { return solve(problem, methods::FrankWolfe{}, options, hooks); };
  std::vector<Checkpoint> written;
  run_with(run, {}, &written);
  const auto refusal = [&]() -> std::string {
    try {
      run_with(run, written.front());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input);
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal(), "none");
  problem.constraint.radius = 151;
  EXPECT_EQ(refusal(), "'it' was made with other options: radius = 150, not radius = 151; only limits may change");
  problem.constraint.radius = 150;
  options.seed = 2;
  EXPECT_EQ(refusal(), "'it' was made with other options: seed = 1, not seed = 2; only limits may change");
  options.seed = 1;
  problem.observations = low_rank_entries(80, 60, 0.51);
  EXPECT_EQ(refusal(), "'it' belongs to other data; give those it was made with");
}

TEST(CheckpointsOfSolves, AFunctionThatHasChangedIsAnotherLoss) {
  double factor = 10;
  Problem problem = problem_for("fwua");
  problem.loss = losses::Custom{[&](double x, double y) { return factor * std::abs(x - y); }, "lambda", {}};
  RunOptions options;
  options.iterations = 12;
  const auto run = [&](const RunHooks& hooks) { return solve(problem, methods::FrankWolfe{}, options, hooks); };
  std::vector<Checkpoint> written;
  run_with(run, {}, &written);
  EXPECT_NO_THROW(run_with(run, written.front()));
  factor = 1;
  try {
    run_with(run, written.front());
    ADD_FAILURE() << "the bound of one function is none of another";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("loss = lambda with values"), std::string::npos) << error.what();
  }
}

FitData fit_data() {
  const SparseObservations data = low_rank_entries(60, 50, 0.5);
  FitData fit{60, 50, {}};
  for (Index i = 0; i < 60; ++i) {
    for (Offset e = data.pattern.begin()[i]; e < data.pattern.begin()[i + 1]; ++e) {
      fit.entries.row.push_back(i);
      fit.entries.col.push_back(data.pattern.col()[e]);
      fit.entries.value.push_back(data.value[static_cast<std::size_t>(e)]);
    }
  }
  return fit;
}

TEST(CheckpointsOfSearches, AnyOfThemLeadsToTheSameBits) {
  for (const bool l1 : {false, true}) {
    FitOptions options;
    if (l1) {  // the other search: paths of radii
      options.method = methods::FrankWolfe{};
      options.loss = losses::Huber{0.5};
      options.run.iterations = 30;
    }
    const auto run = [&](const RunHooks& hooks) { return fit(fit_data(), options, hooks); };
    std::vector<Checkpoint> written;
    const Fit undisturbed = run_with(run, {}, &written);
    ASSERT_GE(written.size(), 5U);
    const std::size_t stride = std::max<std::size_t>(1, written.size() / 6);
    for (std::size_t k = 0; k < written.size(); k += stride) {
      const Fit resumed = run_with(run, written[k]);
      expect_same(resumed.result, undisturbed.result);
      EXPECT_EQ(resumed.path_best, undisturbed.path_best);
      ASSERT_EQ(resumed.path.size(), undisturbed.path.size());
      for (std::size_t s = 0; s < resumed.path.size(); ++s) {
        EXPECT_EQ(resumed.path[s].validation_error, undisturbed.path[s].validation_error);
      }
    }
  }
}

}  // namespace
}  // namespace tracenorm
