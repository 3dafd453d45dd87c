// Quadratic up to `delta`, linear beyond: e^2/2 for |e| <= delta, delta |e| - delta^2/2 otherwise, e = x - y.
#pragma once

#include "tracenorm/losses/common.hpp"

namespace tracenorm::losses {

struct Huber {
  double delta = 1.0;

  static constexpr std::string_view name = "huber";
  static constexpr std::string_view wants = "any finite numbers";
  static constexpr bool has_kink = true;  // of the slope's slope: the chord still depends on the width
  static constexpr bool cheap_conjugate = true;
  static const std::array<Field<Huber>, 1> fields;

  template <class T>
  TRACENORM_INLINE T value(T x, T y) const {
    const T d = T(delta);
    const T e = std::abs(x - y);
    const T inner = e < d ? e : d;
    return inner * (e - inner / 2);
  }
  template <class T>
  TRACENORM_INLINE T subgradient(T x, T y) const {
    return clamp(x - y, T(-delta), T(delta));
  }
  /// The mean of clamp(t, -delta, delta) over [e-w, e+w], for e >= 0 by symmetry. In units of w around e the upper kink
  /// lies at `top` and the lower one at `bottom` (cut to the interval), and the three pieces are lengths times mean
  /// values: nothing cancels, and w = 0 needs no special case.
  template <class T>
  TRACENORM_INLINE T chord(T x, T w, T y) const {
    const T d = T(delta);
    const T e = x - y;
    const T magnitude = std::abs(e);
    const T top = clipped_ratio(d - magnitude, w);
    const T bottom = clipped_ratio(-d - magnitude, w);
    const T above = d * (1 - top);
    const T below = d * (1 + bottom);
    const T between = (top - bottom) * (magnitude + w * (top + bottom) / 2);
    const T slope = clamp((above - below + between) / 2, T(0), d);
    return e < 0 ? -slope : slope;
  }
  [[nodiscard]] TRACENORM_INLINE Interval slopes(double) const { return {-delta, delta}; }
  [[nodiscard]] TRACENORM_INLINE double conjugate(double s, double y) const {
    const double c = slopes(y).clamp(s);
    return c * y + c * c / 2;
  }
  [[nodiscard]] bool accepts(double y) const { return std::isfinite(y); }
};

inline constexpr std::array<Field<Huber>, 1> Huber::fields{
    {{"delta", &Huber::delta, 1e-6, 1e6, "residual where the loss turns from quadratic to linear"}}};

}  // namespace tracenorm::losses
