// Ranks that are threads of this process: what several processes do, without MPI, for tests of the sums that they
// share.
#pragma once

#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "tracenorm/ranks.hpp"

namespace tracenorm::test {

class ThreadRanks {
 public:
  /// Calls work(ranks) as every rank at once. What one of them throws ends the others and is thrown again, as processes
  /// end each other.
  static void run(int size, const std::function<void(Ranks&)>& work) {
    Meeting meeting(size);
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&meeting, &work, rank] {
        try {
          Rank own(meeting, rank);
          work(own);
        } catch (const Ended&) {
        } catch (...) {
          meeting.end(std::current_exception());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (meeting.failure) std::rethrow_exception(meeting.failure);
  }

 private:
  struct Ended {};

  struct Meeting {
    explicit Meeting(int size) : mine(static_cast<std::size_t>(size)), begin(mine.size()) {}
    /// Returns once all ranks are here; sleeps until then, as they are more than there are cores.
    void wait_for_all() {
      std::unique_lock lock(mutex);
      const long meeting = meetings;
      if (++here == mine.size()) {
        here = 0;
        ++meetings;
        arrived.notify_all();
        return;
      }
      wait(lock, [&] { return meetings != meeting; });
    }
    template <class Come>
    void wait(std::unique_lock<std::mutex>& lock, Come&& come) {
      arrived.wait(lock, [&] { return come() || failure; });
      if (!come()) throw Ended();
    }
    void end(std::exception_ptr why) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::move(why);
      arrived.notify_all();
    }
    std::vector<std::span<const std::byte>> mine;     // what each rank shows,
    std::vector<std::span<const std::size_t>> begin;  // and what of it is for whom
    std::size_t here = 0;
    long meetings = 0;
    std::mutex mutex;
    std::condition_variable arrived;
    std::map<std::pair<int, int>, std::queue<std::vector<std::byte>>> letters;  // from, to
    std::exception_ptr failure;                                                 // of the first one that failed
  };

  class Rank final : public Ranks {
   public:
    Rank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(meeting_.mine.size()); }
    [[nodiscard]] int neighbours() const override { return size(); }

    [[nodiscard]] std::vector<std::byte> gather(std::span<const std::byte> mine) override {
      std::vector<std::byte> all;
      show(mine, {}, [&](std::size_t, std::span<const std::byte> theirs, auto) {
        all.insert(all.end(), theirs.begin(), theirs.end());
      });
      return all;
    }
    void collect(std::span<const std::byte> mine, std::span<std::byte> all) override {
      std::byte* to = all.data();
      show(mine, {}, [&](std::size_t, std::span<const std::byte> theirs, auto) {
        to = std::copy(theirs.begin(), theirs.end(), to);
      });
    }
    void collect(std::span<const std::byte> mine, std::span<std::byte> all,
                 std::span<const std::size_t> begin) override {
      show(mine, {}, [&](std::size_t from, std::span<const std::byte> theirs, auto) {
        std::copy(theirs.begin(), theirs.end(), all.begin() + static_cast<std::ptrdiff_t>(begin[from]));
      });
    }
    void trade(std::span<const std::byte> mine, std::span<const std::size_t> mine_begin, std::span<std::byte> all,
               std::span<const std::size_t> all_begin) override {
      const auto own = static_cast<std::size_t>(rank_);
      show(mine, mine_begin, [&](std::size_t from, std::span<const std::byte> theirs, auto their_begin) {
        const auto part = theirs.subspan(their_begin[own], their_begin[own + 1] - their_begin[own]);
        std::copy(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(all_begin[from]));
      });
    }
    void sum(std::span<double> numbers) override {
      for_numbers(numbers, [](double& sum, double more) { sum += more; });
    }
    void largest(std::span<double> numbers) override {
      for_numbers(numbers, [](double& most, double other) {
        if (!(other <= most)) most = other;
      });
    }
    void broadcast(std::span<std::byte> bytes, int from) override {
      const std::vector<std::byte> mine(bytes.begin(), bytes.end());
      show(mine, {}, [&](std::size_t who, std::span<const std::byte> theirs, auto) {
        if (static_cast<int>(who) == from) std::copy(theirs.begin(), theirs.end(), bytes.begin());
      });
    }
    void send(int to, std::span<const std::byte> bytes) override {
      const std::lock_guard lock(meeting_.mutex);
      meeting_.letters[{rank_, to}].emplace(bytes.begin(), bytes.end());
      meeting_.arrived.notify_all();
    }
    void receive(int from, std::span<std::byte> bytes) override {
      std::unique_lock lock(meeting_.mutex);
      auto& letters = meeting_.letters[{from, rank_}];
      meeting_.wait(lock, [&] { return !letters.empty(); });
      std::copy(letters.front().begin(), letters.front().end(), bytes.begin());
      letters.pop();
    }

   private:
    template <class Take>
    void show(std::span<const std::byte> mine, std::span<const std::size_t> begin, Take&& take) {
      meeting_.mine[static_cast<std::size_t>(rank_)] = mine;
      meeting_.begin[static_cast<std::size_t>(rank_)] = begin;
      meeting_.wait_for_all();
      for (std::size_t from = 0; from < meeting_.mine.size(); ++from)
        take(from, meeting_.mine[from], meeting_.begin[from]);
      meeting_.wait_for_all();
    }
    template <class Join>
    void for_numbers(std::span<double> numbers, Join&& join) {
      const std::vector<double> mine(numbers.begin(), numbers.end());
      show(std::as_bytes(std::span(mine)), {}, [&](std::size_t from, std::span<const std::byte> theirs, auto) {
        std::vector<double> other(numbers.size());
        std::memcpy(other.data(), theirs.data(), theirs.size());
        for (std::size_t k = 0; k < other.size(); ++k) {
          if (from == 0) {
            numbers[k] = other[k];
          } else {
            join(numbers[k], other[k]);
          }
        }
      });
    }

    Meeting& meeting_;
    int rank_;
  };
};

}  // namespace tracenorm::test
