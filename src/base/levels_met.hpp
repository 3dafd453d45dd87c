// Data with few levels, such as stars: a look at a small table instead of a search for every value.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tracenorm/types.hpp"

namespace tracenorm {

/// Remembers most of the levels that it has met, each at one place, which its bits say.
class LevelsMet {
 public:
  LevelsMet() { levels_.fill(std::numeric_limits<Real>::quiet_NaN()); }
  /// False where the value was not met before, or has been forgotten since.
  bool again(Real value) {
    using Bits = std::conditional_t<sizeof(Real) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    constexpr auto spread = static_cast<Bits>(0x9e3779b97f4a7c15);  // makes the high bits depend on all of them
    Real& level = levels_[(std::bit_cast<Bits>(value) * spread) >> (std::numeric_limits<Bits>::digits - kDigits)];
    if (level == value) return true;
    level = value;
    return false;
  }

 private:
  static constexpr int kDigits = 10;
  std::array<Real, std::size_t{1} << kDigits> levels_;
};

}  // namespace tracenorm
