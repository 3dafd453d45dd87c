#include "base/execution.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/fork.hpp"

namespace tracenorm {

namespace {

/// More shards balance better but cost one output vector each in products with the transpose.
constexpr int kMostShards = 64;
constexpr Offset kLeastShardEntries = 16384;
constexpr Offset kLeastOutputEntries = 8;  // per number that a shard writes: adding those up must stay a side matter

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

/// Worker threads that wait for shards. Why not OpenMP: its loops end only when every thread has arrived, so on a busy
/// machine each of our many short passes would wait for a thread that is not even running. Here the caller works too,
/// shards are taken one by one, and the pass is over when the last *taken* shard is: a worker that sleeps through it
/// delays nobody. It is also visible to the thread sanitizer.
///
/// Everybody begins with a range of shards of its own, the same one in every pass over the same data, most of which are
/// in its cache then; who is done takes what others have left (docs/measurements.md).
class Execution::Crew {
 public:
  explicit Crew(int threads) : ranges_(static_cast<std::size_t>(threads)) {}

  /// A forked process has a copy of the crew, but none of its threads, and it may have been busy at that moment.
  [[nodiscard]] bool is_ours() const { return forks_ == forks_so_far(); }

  ~Crew() {
    stop_.store(true);
    announce();
    for (std::thread& worker : workers_) worker.join();
  }

  /// False when somebody is using the crew: a loop within a loop.
  bool try_run(int threads, int shards, ShardFunction function, void* context) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    hire(threads - 1);
    function_.store(function, std::memory_order_relaxed);
    context_.store(context, std::memory_order_relaxed);
    allowed_.store(threads - 1, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    // Open: whoever takes a shard from here on sees the fields above.
    for (int k = 0; k < threads; ++k) {
      const auto bound = [&](int range) { return static_cast<std::uint64_t>(std::int64_t{shards} * range / threads); };
      ranges_[static_cast<std::size_t>(k)].next.store(bound(k + 1) << 32 | bound(k), std::memory_order_release);
    }
    announce();
    take_shards(0);
    for (int finished = finished_.load(std::memory_order_acquire); finished < shards;
         finished = finished_.load(std::memory_order_acquire)) {
      pause();
    }
    for (int k = 0; k < threads; ++k)
      ranges_[static_cast<std::size_t>(k)].next.store(0, std::memory_order_relaxed);  // closed
    failed_.store(false, std::memory_order_relaxed);
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    busy_.store(false, std::memory_order_release);
    if (failure) std::rethrow_exception(failure);
    return true;
  }

 private:
  /// Of shards: where it ends (high half), the next one (low half). Alone in its cache line.
  struct alignas(64) Range {
    std::atomic<std::uint64_t> next{0};
  };

  static constexpr int kSpins = 4000;  // some tens of microseconds: passes follow each other closely

  /// As many as the machine gives: with fewer, or none, the work is done all the same.
  void hire(int wanted) {
    try {
      while (!short_of_threads_ && static_cast<int>(workers_.size()) < wanted) {
        const int id = static_cast<int>(workers_.size());
        workers_.emplace_back([this, id] { serve(id); });
      }
    } catch (const std::system_error&) {
      short_of_threads_ = true;
    } catch (const std::bad_alloc&) {
      short_of_threads_ = true;
    }
  }

  void announce() {
    epoch_.fetch_add(1);
    epoch_.notify_all();
  }

  void take_shards(std::size_t own) {
    for (std::size_t k = 0; k < ranges_.size(); ++k) take_shards(ranges_[(own + k) % ranges_.size()]);
  }

  void take_shards(Range& range) {
    const auto left = [](std::uint64_t taken) { return static_cast<std::uint32_t>(taken) < taken >> 32; };
    while (left(range.next.load(std::memory_order_relaxed))) {
      // Number and limit come in one piece: a worker that slept between the two would measure the number of one pass
      // by the limit of the next. A shard that is taken keeps its pass, and so function and context, alive.
      const std::uint64_t taken = range.next.fetch_add(1, std::memory_order_acq_rel);
      if (!left(taken)) return;
      try {
        function_.load(std::memory_order_relaxed)(context_.load(std::memory_order_relaxed),
                                                  static_cast<int>(static_cast<std::uint32_t>(taken)));
      } catch (...) {  // the first one is the caller's; its write is seen by who sees the shard finished
        if (!failed_.exchange(true)) failure_ = std::current_exception();
      }
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
      if (id < allowed_.load(std::memory_order_relaxed)) take_shards(static_cast<std::size_t>(id) + 1);
    }
  }

  unsigned forks_ = forks_so_far();
  std::atomic<bool> busy_{false};
  bool short_of_threads_ = false;
  std::vector<std::thread> workers_;
  std::atomic<unsigned> epoch_{0};
  std::atomic<bool> stop_{false};
  std::vector<Range> ranges_;
  std::atomic<int> allowed_{0};
  std::atomic<int> finished_{0};
  std::atomic<ShardFunction> function_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;
};

Execution::Execution(int threads)
    : threads_(threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))) {
  if (threads_ > 1) crew_ = new Crew(threads_);
}

Execution::~Execution() {
  Crew* crew = crew_.load();
  if (crew == nullptr) return;
  crew->is_ours() ? delete crew : leave_to_parent(crew);
}

Execution::Crew& Execution::crew() const {
  Crew* crew = crew_.load();
  if (crew->is_ours()) return *crew;
  auto fresh = std::make_unique<Crew>(threads_);
  if (!crew_.compare_exchange_strong(crew, fresh.get())) return *crew;
  leave_to_parent(crew);
  return *fresh.release();
}

void Execution::run(int shards, ShardFunction function, void* context) const {
  const int threads = std::min(threads_, shards);
  if (threads > 1 && crew().try_run(threads, shards, function, context)) return;
  for (int shard = 0; shard < shards; ++shard) function(context, shard);
}

std::vector<Index> cut_rows(Index rows, Offset entries, const Offset* begin, Index outputs) {
  const Offset least = std::max(kLeastShardEntries, kLeastOutputEntries * outputs);
  return cut_rows_into(std::clamp<Offset>(entries / least, 1, kMostShards), rows, entries, begin);
}

std::vector<Index> cut_rows_into(Offset wanted, Index rows, Offset entries, const Offset* begin) {
  std::vector<Index> cuts{0};
  for (Offset s = 1; s < wanted; ++s) {
    const Offset target = entries * s / wanted;
    Index row = 0;
    if (begin != nullptr) {
      row = static_cast<Index>(std::lower_bound(begin, begin + rows + 1, target) - begin);
    } else {
      row = static_cast<Index>(static_cast<Offset>(rows) * s / wanted);
    }
    if (row > cuts.back() && row < rows) cuts.push_back(row);
  }
  cuts.push_back(rows);
  return cuts;
}

}  // namespace tracenorm
