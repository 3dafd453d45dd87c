// log(1 + exp(-y x)) for labels y = +1 or -1.
#pragma once

#include "tracenorm/losses/common.hpp"

namespace tracenorm::losses {

struct Logistic {
  static constexpr std::string_view name = "logistic";
  static constexpr std::string_view wants = "labels -1 and +1";
  static constexpr bool has_kink = false;
  static constexpr bool cheap_conjugate = false;  // two logarithms an entry
  static constexpr std::array<Field<Logistic>, 0> fields{};

  /// log(1 + e^-z) without overflow.
  template <class T>
  TRACENORM_INLINE static T softplus_of_minus(T z) {
    return (z > 0 ? T(0) : -z) + std::log1p(std::exp(-std::abs(z)));
  }
  template <class T>
  TRACENORM_INLINE T value(T x, T y) const {
    return softplus_of_minus(y * x);
  }
  template <class T>
  TRACENORM_INLINE T subgradient(T x, T y) const {
    return -y / (1 + std::exp(y * x));
  }
  /// With z = y x: -y log1p(2 sinh(w) / (e^z + e^-w)) / 2w. For wide intervals nothing cancels and the quotient is
  /// used.
  template <class T>
  TRACENORM_INLINE T chord(T x, T w, T y) const {
    const T z = y * x;
    if (w < T(1e-4)) return subgradient(x, y);  // the difference is of order w^2, below rounding
    if (w > T(8)) return y * (softplus_of_minus(z + w) - softplus_of_minus(z - w)) / (2 * w);
    return -y * std::log1p(2 * std::sinh(w) / (std::exp(z) + std::exp(-w))) / (2 * w);
  }
  [[nodiscard]] TRACENORM_INLINE Interval slopes(double y) const {
    return y > 0 ? Interval{-1.0, 0.0} : Interval{0.0, 1.0};
  }
  [[nodiscard]] TRACENORM_INLINE double conjugate(double s, double y) const {
    const double p = std::abs(slopes(y).clamp(s));
    // For small p the logarithm of 1 - p, rounded, would have lost what counts.
    return (p > 0 ? p * std::log(p) : 0.0) + (p < 1 ? (1 - p) * std::log1p(-p) : 0.0);
  }
  [[nodiscard]] bool accepts(double y) const { return is_label(y); }
};

}  // namespace tracenorm::losses
