// What every loss is made of.
//
// A loss is a tiny regular type. For an entry with datum y it says, for a prediction x:
//   value(x, y)        the convex function f, whose least value is 0 (that of a custom loss may be another)
//   subgradient(x, y)  one element of its subdifferential
//   chord(x, w, y)     the slope of the uniform affine approximation on [x-w, x+w], i.e. (f(x+w) - f(x-w)) / 2w, in
//   closed
//                      form because the difference quotient cancels for small w (paper, Theorem aff_def); w = 0 gives a
//                      subgradient
//   slopes(y)          the closed interval of slopes f has (the domain of the conjugate)
//   conjugate(s, y)    sup over x of s x - f(x, y), for s in slopes(y); s is clamped into that interval, so rounding of
//   a
//                      stored slope can never turn a bound into minus infinity
//   accepts(y)         whether the datum makes sense
// A new loss is one file like absolute.hpp, and one line in loss.hpp.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>

#include "tracenorm/field.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Interval {
  double lower = -kInfinity;
  double upper = kInfinity;
  [[nodiscard]] TRACENORM_INLINE double clamp(double s) const { return s < lower ? lower : (s > upper ? upper : s); }
};

namespace losses {

template <class T>
TRACENORM_INLINE T clamp(T z, T lower, T upper) {
  return z < lower ? lower : (z > upper ? upper : z);
}

/// clip(e / w) to [-1, 1]: the chord slope of |e|. At w = 0 it is the sign, with sign(0) = 0.
template <class T>
TRACENORM_INLINE T clipped_ratio(T e, T w) {
  // One division by max(w, tiny) instead of a branch: e / tiny is huge or zero, and the clamp makes it a sign.
  constexpr T tiny = std::numeric_limits<T>::min();
  return clamp(e / (w > tiny ? w : tiny), T(-1), T(1));
}

TRACENORM_INLINE bool is_label(double y) { return y == 1.0 || y == -1.0; }

}  // namespace losses

template <class L>
concept SeparableLoss = std::copyable<L> && requires(const L& loss, Real x, Real y, Real w, double s) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::has_kink } -> std::convertible_to<bool>;           // a slope can jump, so the width matters
  { L::cheap_conjugate } -> std::convertible_to<bool>;    // cheap enough to be summed in every iteration
  { L::wants } -> std::convertible_to<std::string_view>;  // the data it is for, for error messages
  { loss.value(x, y) } -> std::convertible_to<double>;
  { loss.subgradient(x, y) } -> std::convertible_to<double>;
  { loss.chord(x, w, y) } -> std::convertible_to<double>;
  { loss.slopes(s) } -> std::same_as<Interval>;
  { loss.conjugate(s, s) } -> std::same_as<double>;
  { loss.accepts(s) } -> std::same_as<bool>;
};

}  // namespace tracenorm
