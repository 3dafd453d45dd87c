// Any convex function of (x, y), given by its values alone. Slower than the built-in losses: every evaluation is an
// indirect call, and the conjugate is found by a one-dimensional convex search.
#pragma once

#include <functional>
#include <string>

#include "tracenorm/losses/common.hpp"

namespace tracenorm::losses {

struct Custom {
  std::function<double(double x, double y)> function;
  std::string label = "custom";  ///< how reports call it
  Interval slope_range;          ///< known bounds on the slope, if any; tightens nothing, guards rounding

  static constexpr std::string_view name = "custom";
  static constexpr std::string_view wants = "data for which the function is finite";
  static constexpr bool has_kink = true;
  static constexpr bool cheap_conjugate = false;
  static constexpr std::array<Field<Custom>, 0> fields{};

  [[nodiscard]] double value(double x, double y) const { return function(x, y); }
  [[nodiscard]] double subgradient(double x, double y) const;
  /// The difference quotient (f(x+w) - f(x-w)) / 2w; w is kept large enough that it does not drown in rounding.
  [[nodiscard]] double chord(double x, double w, double y) const;
  [[nodiscard]] Interval slopes(double) const { return slope_range; }
  /// An upper bound of the supremum of s x - f(x, y), tight to rounding; +infinity where the supremum is infinite.
  [[nodiscard]] double conjugate(double s, double y) const;
  [[nodiscard]] bool accepts(double y) const { return std::isfinite(y) && std::isfinite(function(0.0, y)); }
};

}  // namespace tracenorm::losses
