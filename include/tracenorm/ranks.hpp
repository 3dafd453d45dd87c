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
  /// Number by number the sum over all ranks, added in their order.
  virtual void sum(std::span<double> numbers) = 0;
  virtual void sum(std::span<float> numbers) = 0;
  /// Number by number the largest.
  virtual void largest(std::span<double> numbers) = 0;
  /// What the first rank has.
  virtual void broadcast(std::span<std::byte> bytes) = 0;

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
