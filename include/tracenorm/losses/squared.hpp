// weight * (x - y)^2. Smooth: the chord slope is the derivative whatever the width.
#pragma once

#include "tracenorm/losses/common.hpp"

namespace tracenorm::losses {

struct Squared {
  double weight = 1.0;

  static constexpr std::string_view name = "squared";
  static constexpr std::string_view wants = "any finite numbers";
  static constexpr bool has_kink = false;
  static constexpr bool cheap_conjugate = true;
  static const std::array<Field<Squared>, 1> fields;

  template <class T>
  TRACENORM_INLINE T value(T x, T y) const {
    return T(weight) * (x - y) * (x - y);
  }
  template <class T>
  TRACENORM_INLINE T subgradient(T x, T y) const {
    return T(2 * weight) * (x - y);
  }
  template <class T>
  TRACENORM_INLINE T chord(T x, T, T y) const {
    return subgradient(x, y);
  }
  [[nodiscard]] TRACENORM_INLINE Interval slopes(double) const { return {-kInfinity, kInfinity}; }
  [[nodiscard]] TRACENORM_INLINE double conjugate(double s, double y) const { return s * y + s * s * (0.25 / weight); }
  [[nodiscard]] bool accepts(double y) const { return std::isfinite(y); }
};

inline constexpr std::array<Field<Squared>, 1> Squared::fields{
    {{"weight", &Squared::weight, 1e-6, 1e6, "factor before the square"}}};

}  // namespace tracenorm::losses
