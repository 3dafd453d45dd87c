// Solves in several threads at once, within each other, after a fork, and with errors in their workers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "support/random_matrices.hpp"
#include "support/sanitizers.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm {
namespace {

/// Of several shards.
const Problem& problem() {
  static const Problem made = [] {
    Random random(5);
    return Problem{test::normal_entries(400, 300, 0.5, random), losses::Absolute{}, NoPenalty{}, TraceNormBall{300}};
  }();
  return made;
}

RunOptions run_of(int iterations) {
  RunOptions run;
  run.iterations = iterations;
  run.threads = 3;
  return run;
}
const RunOptions kRun = run_of(12);

bool same(const Result& a, const Result& b) {
  return a.objective == b.objective && a.lower_bound == b.lower_bound && a.solution.left() == b.solution.left() &&
         a.solution.values() == b.solution.values() && a.solution.right() == b.solution.right();
}

/// Calls a function at its third iteration.
class AtThird final : public Observer {
 public:
  explicit AtThird(std::function<void()> work) : work_(std::move(work)) {}
  bool on_iteration(const Iteration& iteration, const RunOptions&) override {
    if (iteration.k == 3) work_();
    return true;
  }

 private:
  std::function<void()> work_;
};

RunHooks hooks_of(Observer& observer) {
  RunHooks hooks;
  hooks.observer = &observer;
  return hooks;
}

TEST(ProcessesOfSolves, AtOnceFromManyThreads) {
  const Result alone = solve(problem(), methods::FrankWolfe{}, kRun);
  const Result corrective = solve(problem(), methods::Corrective{}, kRun);
  std::array<Result, 6> results;
  std::vector<std::thread> callers;
  for (std::size_t c = 0; c < results.size(); ++c) {
    callers.emplace_back([&results, c] {
      results[c] = solve(problem(), c % 2 == 0 ? Method(methods::FrankWolfe{}) : methods::Corrective{}, kRun);
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (std::size_t c = 0; c < results.size(); ++c) EXPECT_TRUE(same(results[c], c % 2 == 0 ? alone : corrective)) << c;
}

TEST(ProcessesOfSolves, WithinACallback) {
  const Result alone = solve(problem(), methods::FrankWolfe{}, kRun);
  Result inner;
  AtThird nested([&] { inner = solve(problem(), methods::FrankWolfe{}, kRun); });
  const Result outer = solve(problem(), methods::FrankWolfe{}, kRun, hooks_of(nested));
  EXPECT_TRUE(same(outer, alone));
  EXPECT_TRUE(same(inner, alone));
}

TEST(ProcessesOfSolves, ARunGoesOnInAForkedChild) {
  if (test::kThreadsWatched) GTEST_SKIP() << "the thread sanitizer does not know threads after a fork";
  const Result alone = solve(problem(), methods::FrankWolfe{}, kRun);
  bool is_child = false;
  pid_t child = 0;
  AtThird forks([&] {
    child = fork();
    is_child = child == 0;
    if (is_child) alarm(60);  // a process that hangs is killed
  });
  const Result result = solve(problem(), methods::FrankWolfe{}, kRun, hooks_of(forks));
  if (is_child) std::exit(same(result, alone) && same(solve(problem(), methods::FrankWolfe{}, kRun), alone) ? 0 : 1);
  EXPECT_TRUE(same(result, alone));
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ProcessesOfSolves, NoMemoryInAWorkerIsAnErrorOfTheRun) {
  Problem greedy = problem();
  std::atomic<int> calls{0};
  greedy.loss = losses::Custom::on_blocks([&](const double* x, const double* y, double* out, std::size_t count) {
    if (++calls == 40) throw std::bad_alloc();
    for (std::size_t e = 0; e < count; ++e) out[e] = std::abs(x[e] - y[e]);
  });
  EXPECT_THROW(solve(greedy, methods::FrankWolfe{}, kRun), std::bad_alloc);
  calls = 1000;
  EXPECT_EQ(solve(greedy, methods::FrankWolfe{}, run_of(2)).status, Status::iteration_limit);
}

}  // namespace
}  // namespace tracenorm
