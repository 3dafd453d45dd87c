// Our own thread crew (src/base/execution.cpp) next to OpenMP and oneTBB, on what our passes are: thousands of short
// loops over 16 shards with a little serial work in between, alone and with a busy thread beside each of ours.
//
// Usage: tracenorm_crew_bench [THREADS [REPETITIONS]]       all cores, 7
//
// Made by `make bench`, or by hand, for a machine without our build:
//   g++ -std=c++20 -O2 -fopenmp -static-libgcc -static-libstdc++ -Isrc -Iinclude bench/crew_bench.cpp
//       src/base/execution.cpp -o crew_bench -ltbb -pthread '-Wl,-rpath,$ORIGIN'
// with libtbb.so.12 and libgomp.so.1 copied beside it where they are missing.
#include <omp.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/execution.hpp"

namespace {

constexpr int kShards = 16;
constexpr double kSerial = 5e-6;                           // seconds of serial work between two loops
constexpr double kSample = 0.2;                            // seconds of a sample
constexpr double kWork[] = {20e-6, 100e-6, 500e-6, 3e-3};  // of a loop, in seconds of one thread

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Arithmetic that no compiler can shorten, and no cache or memory can slow down.
void work(long steps) {
  double x = 1;
  for (long i = 0; i < steps; ++i) asm volatile("mulsd %0, %0" : "+x"(x));
}

/// Steps of `work` in a second of one thread: the most of several tries, so that a busy machine does not count.
double speed() {
  double most = 0;
  for (int i = 0; i < 50; ++i) {
    constexpr long steps = 200'000;
    const double began = now();
    work(steps);
    most = std::max(most, steps / (now() - began));
  }
  return most;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Threads that do nothing but keep cores busy.
class Load {
 public:
  explicit Load(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!stop_.load(std::memory_order_relaxed)) work(1000);
      });
    }
  }
  ~Load() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

void serial(long steps) {
  for (int shard = 0; shard < kShards; ++shard) work(steps);
}

const tracenorm::Execution* execution = nullptr;
void crew(long steps) {
  execution->for_each_shard(kShards, [=](int) { work(steps); });
}

void open_mp(long steps) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int shard = 0; shard < kShards; ++shard) work(steps);
}

void one_tbb(long steps) {
  tbb::parallel_for(
      tbb::blocked_range<int>(0, kShards, 1),
      [=](const tbb::blocked_range<int>& range) {
        for (int shard = range.begin(); shard < range.end(); ++shard) work(steps);
      },
      tbb::simple_partitioner{});
}

struct Candidate {
  const char* name;
  void (*loop)(long steps);
};
constexpr Candidate kCandidates[] = {{"crew", crew}, {"OpenMP", open_mp}, {"oneTBB", one_tbb}, {"one thread", serial}};

/// Microseconds of a loop, without the serial work beside it.
double sample(const Candidate& candidate, double seconds, double steps_per_second) {
  const long steps = std::max(1L, static_cast<long>(seconds * steps_per_second / kShards));
  double busy = 0;
  int loops = 0;
  const double end = now() + kSample;
  for (int i = 0; i < 10 || now() < end; ++i) {
    work(static_cast<long>(kSerial * steps_per_second));
    const double began = now();
    candidate.loop(steps);
    if (i == 0) continue;  // the first one wakes the threads up
    busy += now() - began;
    ++loops;
  }
  return 1e6 * busy / loops;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 7;
  if (threads < 1 || repetitions < 1) {
    std::fputs("usage: tracenorm_crew_bench [THREADS [REPETITIONS]]\n", stderr);
    return 2;
  }
  const tracenorm::Execution our_threads(threads);
  execution = &our_threads;
  omp_set_num_threads(threads);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  const double steps_per_second = speed();

  std::printf("%d threads, loops over %d shards, medians of %d; microseconds a loop, and as a multiple of the crew's\n",
              threads, kShards, repetitions);
  std::printf("%-10s %10s", "machine", "work, us");
  for (const Candidate& candidate : kCandidates) std::printf(" %18s", candidate.name);
  std::puts("");
  for (const bool loaded : {false, true}) {
    const Load load(loaded ? threads : 0);
    for (const double seconds : kWork) {
      std::vector<double> times[std::size(kCandidates)];
      for (int r = 0; r < repetitions; ++r) {  // side by side, so that other people's work meets all of them
        for (std::size_t c = 0; c < std::size(kCandidates); ++c) {
          times[c].push_back(sample(kCandidates[c], seconds, steps_per_second));
        }
      }
      std::printf("%-10s %10.0f", loaded ? "loaded" : "as it is", 1e6 * seconds);
      const double ours = median(times[0]);
      for (const std::vector<double>& time : times) std::printf(" %9.1f (%5.2f)", median(time), median(time) / ours);
      std::puts("");
      std::fflush(stdout);
    }
  }
  return 0;
}
