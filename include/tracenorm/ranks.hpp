// The processes that solve one problem together, each with some of its rows. All of them make the same calls in the
// same order; what a call returns has the same bits on each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracenorm {

class Ranks {
 public:
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  virtual ~Ranks() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] bool is_first() const { return rank() == 0; }
  /// How many of them are on this machine.
  [[nodiscard]] virtual int neighbours() const = 0;

  /// What all ranks have, one after the other.
  [[nodiscard]] virtual std::vector<std::byte> gather(std::span<const std::byte> mine) = 0;
  /// The same where all have as many bytes, or rank r those from begin[r] to begin[r + 1]. Allocates nothing.
  virtual void collect(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual void collect(std::span<const std::byte> mine, std::span<std::byte> all,
                       std::span<const std::size_t> begin) = 0;
  /// Bytes from begin[r] to begin[r + 1] go to rank r, and come from it. Allocates nothing.
  virtual void trade(std::span<const std::byte> mine, std::span<const std::size_t> mine_begin, std::span<std::byte> all,
                     std::span<const std::size_t> all_begin) = 0;
  /// Number by number the sum over all ranks, added in their order.
  virtual void sum(std::span<double> numbers) = 0;
  /// Number by number the largest.
  virtual void largest(std::span<double> numbers) = 0;
  /// What rank `from` has.
  virtual void broadcast(std::span<std::byte> bytes, int from) = 0;
  /// From this rank to another one, and there.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  virtual void receive(int from, std::span<std::byte> bytes) = 0;

  /// What was sent so far by this rank, for who wants to know what a run costs.
  struct Traffic {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

 protected:
  Traffic traffic_;
};

}  // namespace tracenorm
