// max(0, 1 - y x) for labels y = +1 or -1.
#pragma once

#include "tracenorm/losses/common.hpp"

namespace tracenorm::losses {

struct Hinge {
  static constexpr std::string_view name = "hinge";
  static constexpr std::string_view wants = "labels -1 and +1";
  static constexpr bool has_kink = true;
  static constexpr bool cheap_conjugate = true;
  static constexpr std::array<Field<Hinge>, 0> fields{};

  template <class T>
  TRACENORM_INLINE T value(T x, T y) const {
    const T margin = 1 - y * x;
    return margin > 0 ? margin : T(0);
  }
  template <class T>
  TRACENORM_INLINE T subgradient(T x, T y) const {
    return chord(x, T(0), y);
  }
  template <class T>
  TRACENORM_INLINE T chord(T x, T w, T y) const {
    return -y * (1 + clipped_ratio(1 - y * x, w)) / 2;
  }
  [[nodiscard]] TRACENORM_INLINE Interval slopes(double y) const {
    return y > 0 ? Interval{-1.0, 0.0} : Interval{0.0, 1.0};
  }
  /// With u = s y in [-1, 0] the supremum is attained at y x = 1 and equals u.
  [[nodiscard]] TRACENORM_INLINE double conjugate(double s, double y) const { return slopes(y).clamp(s) * y; }
  [[nodiscard]] bool accepts(double y) const { return is_label(y); }
};

}  // namespace tracenorm::losses
