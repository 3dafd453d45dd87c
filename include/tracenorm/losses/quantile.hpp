// The pinball loss whose minimiser is the `level` quantile of the data: level (y-x) above the prediction, (1-level)
// (x-y) below.
#pragma once

#include "tracenorm/losses/common.hpp"

namespace tracenorm::losses {

struct Quantile {
  double level = 0.5;

  static constexpr std::string_view name = "quantile";
  static constexpr std::string_view wants = "any finite numbers";
  static constexpr bool has_kink = true;
  static constexpr bool cheap_conjugate = true;
  static const std::array<Field<Quantile>, 1> fields;

  template <class T>
  TRACENORM_INLINE T value(T x, T y) const {
    const T e = x - y;
    return e > 0 ? T(1 - level) * e : T(-level) * e;
  }
  template <class T>
  TRACENORM_INLINE T subgradient(T x, T y) const {
    return chord(x, T(0), y);
  }
  template <class T>
  TRACENORM_INLINE T chord(T x, T w, T y) const {
    return T(0.5 - level) + clipped_ratio(x - y, w) / 2;
  }
  [[nodiscard]] TRACENORM_INLINE Interval slopes(double) const { return {-level, 1.0 - level}; }
  [[nodiscard]] TRACENORM_INLINE double conjugate(double s, double y) const { return slopes(y).clamp(s) * y; }
  [[nodiscard]] bool accepts(double y) const { return std::isfinite(y); }
};

inline constexpr std::array<Field<Quantile>, 1> Quantile::fields{
    {{"level", &Quantile::level, 1e-4, 1 - 1e-4, "the quantile that is fitted"}}};

}  // namespace tracenorm::losses
