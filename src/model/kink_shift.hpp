// Multipliers of kinks (EntryStore::shift_kinks), one entry at a time. For the host and for devices.
#pragma once

#include <algorithm>

#include "tracenorm/losses/common.hpp"

namespace tracenorm {

/// z - p, at most a width, where p is the point nearest to z that has the chord's slope m at z as a subgradient: the
/// kink, if m lies within its jump. Those points are [f*'(m-), f*'(m+)]; at an end of the slopes only the inner one
/// counts, so that an entry beyond its kink stays as far from it as a width reaches.
template <class L>
TRACENORM_INLINE double kink_shift(const L& loss, double z, double width, double y) {
  const Interval slopes = loss.slopes(y);
  const double m = slopes.clamp(double(loss.chord(z, width, y)));
  const double h = 1e-3 * std::min(2.0, slopes.upper - slopes.lower);
  const auto conjugate_slope = [&](double from, double to) {
    return (loss.conjugate(to, y) - loss.conjugate(from, y)) / (to - from);
  };
  const bool below = m - h >= slopes.lower;
  const bool above = m + h <= slopes.upper;
  const double left = below ? conjugate_slope(m - h, m) : conjugate_slope(m, m + h);
  const double right = above ? conjugate_slope(m, m + h) : conjugate_slope(m - h, m);
  return std::clamp(z - std::clamp(z, std::min(left, right), std::max(left, right)), -width, width);
}

}  // namespace tracenorm
