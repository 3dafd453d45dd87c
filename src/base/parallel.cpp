#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace tracenorm {

namespace {

thread_local int thread_count = 0;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Worker threads that wait for shards. Why not OpenMP: its loops end only when every thread has arrived, so on a busy
/// machine each of our many short passes would wait for a thread that is not even running. Here the caller works too,
/// shards are taken one by one, and the pass is over when the last *taken* shard is: a worker that sleeps through it
/// delays nobody. It is also visible to the thread sanitizer.
class Crew {
 public:
  ~Crew() {
    stop_.store(true);
    announce();
    for (std::thread& worker : workers_) worker.join();
  }

  /// False when another caller is using the crew.
  bool try_run(int threads, int shards, detail::ShardFunction function, void* context) {
    const std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    while (static_cast<int>(workers_.size()) < threads - 1) {
      const int id = static_cast<int>(workers_.size());
      workers_.emplace_back([this, id] { serve(id); });
    }
    function_.store(function, std::memory_order_relaxed);
    context_.store(context, std::memory_order_relaxed);
    allowed_.store(threads - 1, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    // Open: whoever takes a shard from here on sees the fields above.
    next_.store(static_cast<std::uint64_t>(shards) << 32, std::memory_order_release);
    announce();
    take_shards();
    for (int finished = finished_.load(std::memory_order_acquire); finished < shards;
         finished = finished_.load(std::memory_order_acquire)) {
      pause();
    }
    next_.store(0, std::memory_order_relaxed);  // closed
    return true;
  }

 private:
  static constexpr int kSpins = 4000;  // some tens of microseconds: passes follow each other closely

  void announce() {
    epoch_.fetch_add(1);
    epoch_.notify_all();
  }

  void take_shards() {
    while (true) {
      // Number and limit come in one piece: a worker that slept between the two would measure the number of one pass
      // by the limit of the next. A shard that is taken keeps its pass, and so function and context, alive.
      const std::uint64_t taken = next_.fetch_add(1, std::memory_order_acq_rel);
      const auto shard = static_cast<std::uint32_t>(taken);
      if (shard >= static_cast<std::uint32_t>(taken >> 32)) return;
      function_.load(std::memory_order_relaxed)(context_.load(std::memory_order_relaxed), static_cast<int>(shard));
      finished_.fetch_add(1, std::memory_order_release);
    }
  }

  void serve(int id) {
    unsigned seen = 0;
    while (true) {
      for (int spin = 0; spin < kSpins && epoch_.load() == seen; ++spin) pause();
      epoch_.wait(seen);
      seen = epoch_.load();
      if (stop_.load()) return;
      if (id < allowed_.load(std::memory_order_relaxed)) take_shards();
    }
  }

  std::mutex busy_;
  std::vector<std::thread> workers_;
  std::atomic<unsigned> epoch_{0};
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> next_{0};  // how many shards there are (high half), the next one (low half)
  std::atomic<int> allowed_{0};
  std::atomic<int> finished_{0};
  std::atomic<detail::ShardFunction> function_{nullptr};
  std::atomic<void*> context_{nullptr};
};

Crew& crew() {
  static Crew the_crew;
  return the_crew;
}

}  // namespace

void set_threads(int threads) { thread_count = std::max(0, threads); }

int get_threads() {
  if (thread_count > 0) return thread_count;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

namespace detail {

void run_shards(int shards, ShardFunction function, void* context) {
  const int threads = std::min(get_threads(), shards);
  if (threads > 1 && crew().try_run(threads, shards, function, context)) return;
  for (int shard = 0; shard < shards; ++shard) function(context, shard);
}

}  // namespace detail
}  // namespace tracenorm
