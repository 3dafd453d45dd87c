// Nothing is allocated inside the iteration loop beyond the growth of the factors: counts every malloc and realloc
// between two iterations.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "base/random.hpp"
#include "tracenorm/solve.hpp"

namespace {
thread_local long allocations = 0;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* malloc(std::size_t size) {  // NOLINT: counts, then does what malloc does
  ++allocations;
  return __libc_malloc(size);
}
extern "C" void* __libc_realloc(void* old, std::size_t size);
extern "C" void* realloc(void* old, std::size_t size) {  // NOLINT
  ++allocations;
  return __libc_realloc(old, size);
}
#endif

namespace tracenorm {
namespace {

struct Watcher : Observer {
  std::vector<long> counts;
  std::vector<Index> terms;
  bool on_iteration(const Iteration& iteration, const RunOptions&) override {
    counts.push_back(allocations);
    terms.push_back(iteration.rank);
    return true;
  }
};

TEST(Allocation, OnlyTheFactorsGrow) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers replace malloc themselves; the plain build counts";
#endif
  Random random(1);
  Entries entries;
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 250; ++j) {
      if (random.uniform() > 0.2) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(Real(random.normal()));
    }
  }
  for (const char* penalty : {"none", "l1:0.1"}) {
    const Problem problem{make_sparse(300, 250, entries), losses::Absolute{}, parse_penalty(penalty),
                          TraceNormBall{100}};
    Watcher watcher;
    watcher.counts.reserve(1000);
    watcher.terms.reserve(1000);
    RunOptions options;
    options.iterations = 120;
    options.threads = 1;
    options.certificate_share = 0;  // certificates have their own memory; this is about the loop
    solve(problem, methods::FrankWolfe{}, options, {.observer = &watcher});
    int grew = 0;
    for (std::size_t k = 3; k + 2 < watcher.counts.size(); ++k) {  // the last one certifies
      const long made = watcher.counts[k + 1] - watcher.counts[k];
      const bool power_of_two = (watcher.terms[k] & (watcher.terms[k] - 1)) == 0;  // capacity doubles then
      if (power_of_two && made > 0) {
        ++grew;
        EXPECT_LE(made, 12) << penalty << " at iteration " << k;
      } else {
        EXPECT_EQ(made, 0) << penalty << " at iteration " << k;
      }
    }
    EXPECT_GE(grew, 1) << "the counter must see the growth, or it sees nothing";
  }
}

}  // namespace
}  // namespace tracenorm
