// max(0, |x - y| - epsilon): errors up to epsilon are free.
#pragma once

#include "tracenorm/losses/common.hpp"

namespace tracenorm::losses {

struct EpsilonInsensitive {
  double epsilon = 0.1;

  static constexpr std::string_view name = "epsilon-insensitive";
  static constexpr std::string_view wants = "any finite numbers";
  static constexpr bool has_kink = true;
  static constexpr bool cheap_conjugate = true;
  static const std::array<Field<EpsilonInsensitive>, 1> fields;

  template <class T>
  TRACENORM_INLINE T value(T x, T y) const {
    const T excess = std::abs(x - y) - T(epsilon);
    return excess > 0 ? excess : T(0);
  }
  template <class T>
  TRACENORM_INLINE T subgradient(T x, T y) const {
    return chord(x, T(0), y);
  }
  /// |e - epsilon|/2 + |e + epsilon|/2 - epsilon is the loss, so its chord is the mean of two clipped ratios.
  template <class T>
  TRACENORM_INLINE T chord(T x, T w, T y) const {
    const T e = x - y;
    return (clipped_ratio(e - T(epsilon), w) + clipped_ratio(e + T(epsilon), w)) / 2;
  }
  [[nodiscard]] TRACENORM_INLINE Interval slopes(double) const { return {-1.0, 1.0}; }
  [[nodiscard]] TRACENORM_INLINE double conjugate(double s, double y) const {
    const double c = slopes(y).clamp(s);
    return c * y + epsilon * std::abs(c);
  }
  [[nodiscard]] bool accepts(double y) const { return std::isfinite(y); }
};

inline constexpr std::array<Field<EpsilonInsensitive>, 1> EpsilonInsensitive::fields{
    {{"epsilon", &EpsilonInsensitive::epsilon, 0.0, 1e6, "half-width of the free zone"}}};

}  // namespace tracenorm::losses
