// The first of several troubles, whichever thread meets it first.
#pragma once

#include <atomic>
#include <limits>

#include "tracenorm/types.hpp"

namespace tracenorm {

/// Of all numbers that threads found the least, or `none`.
class Least {
 public:
  static constexpr Offset none = std::numeric_limits<Offset>::max();
  void meet(Offset number) {
    Offset least = least_.load();
    while (number < least && !least_.compare_exchange_weak(least, number)) {
    }
  }
  [[nodiscard]] Offset value() const { return least_.load(); }

 private:
  std::atomic<Offset> least_ = none;
};

}  // namespace tracenorm
