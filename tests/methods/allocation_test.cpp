// Nothing is allocated inside the iteration loop beyond the growth of the factors, and nothing in a step of a descent
// over factors: counts every malloc, calloc and realloc in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/random.hpp"
#include "methods/factor_descent.hpp"
#include "support/optima.hpp"
#include "support/random_matrices.hpp"
#include "support/sanitizers.hpp"
#include "tracenorm/solve.hpp"

namespace {
thread_local long allocations = 0;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* __libc_malloc(std::size_t size);  // NOLINT: its name in the C library
extern "C" void* malloc(std::size_t size) {        // NOLINT: counts, then does what malloc does
  ++allocations;
  return __libc_malloc(size);
}
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);  // NOLINT: its name in the C library
extern "C" void* calloc(std::size_t count, std::size_t size) {        // NOLINT
  ++allocations;
  return __libc_calloc(count, size);
}
extern "C" void* __libc_realloc(void* old, std::size_t size);  // NOLINT: its name in the C library
extern "C" void* realloc(void* old, std::size_t size) {        // NOLINT
  ++allocations;
  return __libc_realloc(old, size);
}
#endif

namespace tracenorm {
namespace {

/// Whether the factors have no room for another term: they grow by a quarter, and by sixteen at least.
bool is_full(Index terms) {
  Index room = 16;
  while (room < terms) room += std::max<Index>(16, room / 4);
  return room == terms;
}

struct Watcher : Observer {
  std::vector<long> counts;
  std::vector<Index> terms;
  bool on_iteration(const Iteration& iteration, const RunOptions&) override {
    counts.push_back(allocations);
    terms.push_back(iteration.rank);
    return true;
  }
};

/// An iteration of Frank-Wolfe.
void expect_only_growth(const Problem& problem, methods::StepRule step) {
  Watcher watcher;
  watcher.counts.reserve(1000);
  watcher.terms.reserve(1000);
  RunOptions options;
  options.iterations = 120;
  options.threads = 1;
  options.certificate_share = 0;  // certificates have their own memory; this is about the loop
  solve(problem, methods::FrankWolfe{.step = step}, options, {.observer = &watcher});
  int grew = 0;
  for (std::size_t k = 3; k + 2 < watcher.counts.size(); ++k) {  // the last one certifies
    const long made = watcher.counts[k + 1] - watcher.counts[k];
    if (is_full(watcher.terms[k]) && made > 0) {
      ++grew;
      EXPECT_LE(made, 12) << "at iteration " << k;
    } else {
      EXPECT_EQ(made, 0) << "at iteration " << k;
    }
  }
  EXPECT_GE(grew, 1) << "the counter must see the growth, or it sees nothing";
}

TEST(Allocation, OnlyTheFactorsGrow) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers replace malloc themselves; the plain build counts";
  Random random(1);
  const SparseObservations data = test::normal_entries(300, 250, 0.2, random);
  for (const char* penalty : {"none", "l1:0.1", "complement-squared:0.01"}) {
    const Problem problem{data, losses::Absolute{}, parse_penalty(penalty), TraceNormBall{100}};
    for (const methods::StepRule step : {methods::StepRule::measured, methods::StepRule::line_search}) {
      SCOPED_TRACE(std::string(penalty) + (step == methods::StepRule::line_search ? ", line search" : ", measured"));
      expect_only_growth(problem, step);
    }
  }
}

/// Allocations and passes of a descent of so many steps, by one that has done another before.
struct DescentCost {
  long allocations;
  double passes;
};
DescentCost cost_of_descent(const Problem& problem, int steps) {
  OwnEvaluator f(problem, 1);
  for (int k = 0; k < 6; ++k) {
    f->linearize(0.2, false);
    f->aim(f->leading_atom({1e-3, 60}).atom);
    f->move(1.8 / (k + 3));
  }
  methods::FactorDescent descent(*f, 3);
  const FactoredMatrix& x = f->iterate();
  const auto on = [] { return false; };
  descent.descend(x.copy(), FactoredMatrix(f->panels()), 0.1, 3, on);
  const DescentCost before{allocations, f->counters().passes};
  descent.descend(x.copy(), FactoredMatrix(f->panels()), 0.1, steps, on);
  return {allocations - before.allocations, f->counters().passes - before.passes};
}

TEST(Allocation, StepsOfADescentMakeNone) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers replace malloc themselves; the plain build counts";
  int longer = 0;
  for (const auto* problems : {&test::solved_problems(), &test::weighted_problems(), &test::offset_problems()}) {
    for (const test::SolvedProblem& solved : *problems) {
      const DescentCost few = cost_of_descent(solved.problem, 5);
      const DescentCost many = cost_of_descent(solved.problem, 15);
      EXPECT_GT(few.allocations, 0) << solved.name;  // the start and the answer: the counter sees them
      EXPECT_EQ(many.allocations, few.allocations) << solved.name;
      longer += many.passes > 1.5 * few.passes ? 1 : 0;
    }
  }
  EXPECT_GE(longer, 50) << "most descents are not done after five steps";
}

}  // namespace
}  // namespace tracenorm
