// |x - y|: the fit follows the median, gross outliers pull no harder than small ones.
#pragma once

#include "tracenorm/losses/common.hpp"

namespace tracenorm::losses {

struct Absolute {
  static constexpr std::string_view name = "absolute";
  static constexpr std::string_view wants = "any finite numbers";
  static constexpr bool has_kink = true;
  static constexpr bool cheap_conjugate = true;
  static constexpr std::array<Field<Absolute>, 0> fields{};

  template <class T>
  TRACENORM_INLINE T value(T x, T y) const {
    return std::abs(x - y);
  }
  template <class T>
  TRACENORM_INLINE T subgradient(T x, T y) const {
    return chord(x, T(0), y);
  }
  template <class T>
  TRACENORM_INLINE T chord(T x, T w, T y) const {
    return clipped_ratio(x - y, w);
  }
  [[nodiscard]] TRACENORM_INLINE Interval slopes(double) const { return {-1.0, 1.0}; }
  [[nodiscard]] TRACENORM_INLINE double conjugate(double s, double y) const { return slopes(y).clamp(s) * y; }
  [[nodiscard]] bool accepts(double y) const { return std::isfinite(y); }
};

}  // namespace tracenorm::losses
