// Sums over many numbers on all threads, the same bits on any number of them: parts of fixed blocks, added in their
// order.
#pragma once

#include <array>
#include <vector>

#include "base/execution.hpp"

namespace tracenorm {

/// Several sums at once.
template <std::size_t count>
struct Sums {
  std::array<double, count> of{};
  Sums& operator+=(const Sums& other) {
    for (std::size_t k = 0; k < count; ++k) of[k] += other.of[k];
    return *this;
  }
};

/// Adds up what work(element, sums) adds to its sums for the elements 0..size-1.
template <std::size_t count, class Work>
Sums<count> sum_over(const Execution& execution, std::size_t size, Work&& work) {
  constexpr Offset block = Offset{1} << 16U;
  std::vector<Sums<count>> parts((size + block - 1) / block);
  execution.for_each_block(static_cast<Offset>(size), block, [&](Offset first, Offset elements) {
    Sums<count>& part = parts[static_cast<std::size_t>(first / block)];
    for (Offset e = first; e < first + elements; ++e) work(static_cast<std::size_t>(e), part);
  });
  Sums<count> sums;
  for (const Sums<count>& part : parts) sums += part;
  return sums;
}

/// work(element) for 0..size-1, possibly at once.
template <class Work>
void for_each_element(const Execution& execution, std::size_t size, Work&& work) {
  constexpr Offset block = Offset{1} << 16U;
  execution.for_each_block(static_cast<Offset>(size), block, [&](Offset first, Offset elements) {
    for (Offset e = first; e < first + elements; ++e) work(static_cast<std::size_t>(e));
  });
}

}  // namespace tracenorm
