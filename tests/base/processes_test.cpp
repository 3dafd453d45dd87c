// What may happen to a crew of threads: errors in its work, forks, machines that give no threads.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include "base/execution.hpp"
#include "base/ticker.hpp"
#include "support/sanitizers.hpp"

namespace tracenorm {
namespace {

/// How many threads took part in a pass whose shards wait for each other, up to a limit.
int threads_at_work(const Execution& execution, int shards) {
  std::atomic<int> here{0};
  std::atomic<int> most{0};
  execution.for_each_shard(shards, [&](int) {
    const int now = here.fetch_add(1) + 1;
    for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (most.load() < shards && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    here.fetch_sub(1);
  });
  return most.load();
}

/// Runs work in a forked process, which then ends as programs do, and returns its exit code; -1 where it had to be
/// killed.
template <class Work>
int in_child(Work&& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a process that hangs is killed
    const int code = work();
    if (test::kSanitized) std::_Exit(code);  // a search for leaks would wait for threads that the child does not have
    std::exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Processes, WhatAShardThrowsComesOutOfItsLoop) {
  const Execution execution(3);
  for (int pass = 0; pass < 200; ++pass) {
    std::atomic<int> others{0};
    const auto work = [&](int shard) {
      if (shard == 5) throw std::bad_alloc();
      ++others;
    };
    EXPECT_THROW(execution.for_each_shard(8, work), std::bad_alloc);
    EXPECT_LE(others.load(), 7);
    others = 0;
    execution.for_each_shard(8, [&](int) { ++others; });  // and the next one is as good as ever
    EXPECT_EQ(others.load(), 8);
  }
}

TEST(Processes, OfSeveralErrorsOneComesOut) {
  const Execution execution(4);
  EXPECT_THROW(execution.for_each_shard(16, [](int) { throw std::runtime_error("every one"); }), std::runtime_error);
}

TEST(Processes, AForkedChildStartsThreadsOfItsOwnAndEnds) {
  auto execution = std::make_unique<Execution>(3);
  ASSERT_EQ(threads_at_work(*execution, 3), 3);
  EXPECT_EQ(in_child([&] {
              const int threads = threads_at_work(*execution, 3);
              execution.reset();
              return threads;
            }),
            3);
  EXPECT_EQ(in_child([&] {  // that never uses it
              execution.reset();
              return 7;
            }),
            7);
  EXPECT_EQ(threads_at_work(*execution, 3), 3);
}

TEST(Processes, AForkAmidALoopLeavesTheChildACrewThatIsNotBusy) {
  const Execution execution(2);
  std::atomic<bool> busy{false};
  std::atomic<bool> done{false};
  std::thread other([&] {
    execution.for_each_shard(2, [&](int) {
      busy = true;
      while (!done) std::this_thread::yield();
    });
  });
  while (!busy) std::this_thread::yield();
  EXPECT_EQ(in_child([&] { return threads_at_work(execution, 2); }), 2);
  done = true;
  other.join();
}

TEST(Processes, AGrandchildDoesToo) {
  const Execution execution(2);
  ASSERT_EQ(threads_at_work(execution, 2), 2);
  EXPECT_EQ(in_child([&] {
              const int mine = threads_at_work(execution, 2);
              return 10 * mine + in_child([&] { return threads_at_work(execution, 2); });
            }),
            22);
}

TEST(Processes, ATickerOfTheParentDoesNotHoldUpAChild) {
  auto ticker = std::make_unique<Ticker>(std::chrono::milliseconds(1), [] {});
  EXPECT_EQ(in_child([&] {
              ticker.reset();
              return 7;
            }),
            7);
}

TEST(Processes, WithoutThreadsTheCallerDoesTheWork) {
  EXPECT_EQ(in_child([] {
              if (geteuid() == 0 && setuid(65534) != 0) return 8;  // whom no limit holds
              const rlimit none{0, 0};
              setrlimit(RLIMIT_NPROC, &none);
              const Execution execution(4);
              int shards = 0;
              execution.for_each_shard(8, [&](int) { ++shards; });
              const Ticker ticker(std::chrono::milliseconds(1), [] {});
              return shards;
            }),
            8);
}

}  // namespace
}  // namespace tracenorm
