// Any convex function of (x, y), given by its values alone. Slower than the built-in losses: every evaluation is an
// indirect call, and the conjugate is found by a one-dimensional convex search. A function that is expensive to call
// (one of another language) can be given on whole blocks of pairs instead: the kernels ask for blocks only.
#pragma once

#include <functional>
#include <string>

#include "tracenorm/losses/common.hpp"

namespace tracenorm::losses {

struct Custom {
  /// out[i] = f(x[i], y[i]) for i < count. May be called from several threads at once. What it throws ends
  /// the run, and comes out of it.
  using Block = std::function<void(const double* x, const double* y, double* out, std::size_t count)>;

  std::function<double(double x, double y)> function;
  std::string label = "custom";  ///< how reports call it
  Interval slope_range;          ///< known bounds on the slope, if any; tightens nothing, guards rounding
  Block block = nullptr;         ///< the same function on many pairs at once; without it `function` is called in a loop

  /// A loss that is known on blocks.
  static Custom on_blocks(Block block, std::string label = "custom");

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
  /// A function on blocks is too expensive to be asked for one datum at a time: what it says is seen in the run.
  [[nodiscard]] bool accepts(double y) const {
    return std::isfinite(y) && (block != nullptr || std::isfinite(function(0.0, y)));
  }

  /// The same on many pairs.
  void values(const double* x, const double* y, double* out, std::size_t count) const;
  void chords(const double* x, double w, const double* y, double* out, std::size_t count) const;
  void conjugates(const double* s, const double* y, double* out, std::size_t count) const;
};

}  // namespace tracenorm::losses
