// The slopes that an entry's function has, weight * loss + penalty, with every end of an interval rounded inwards: what
// is proved with a slope inside is true of the numbers as they are stored. For the host and for devices.
#pragma once

#include <cmath>
#include <limits>

#include "tracenorm/losses/common.hpp"

namespace tracenorm::entry_slopes {

inline constexpr double kUnit = std::numeric_limits<double>::epsilon();

/// weight * limit, rounded towards the inside of the interval that it ends.
TRACENORM_INLINE double scaled_limit(double weight, double limit, double inside) {
  const double product = weight * limit;
  if (!std::isfinite(product)) return product;
  const double error = std::fma(weight, limit, -product);  // weight * limit = product + error, exactly
  const bool beyond = inside < 0 ? error < 0 : error > 0;
  return beyond ? std::nextafter(product, inside) : product;
}

/// The slopes that weight * loss has.
template <class L>
TRACENORM_INLINE Interval slopes_of(const L& loss, double weight, double y) {
  const Interval slopes = loss.slopes(y);
  return {scaled_limit(weight, slopes.lower, kInfinity), scaled_limit(weight, slopes.upper, -kInfinity)};
}

/// The nearest Real inside the interval.
TRACENORM_INLINE Real inside(Real s, const Interval& interval) {
  if (double(s) < interval.lower) {
    s = Real(interval.lower);
    return double(s) < interval.lower ? std::nextafter(s, Real(kInfinity)) : s;
  }
  if (double(s) > interval.upper) {
    s = Real(interval.upper);
    return double(s) > interval.upper ? std::nextafter(s, Real(-kInfinity)) : s;
  }
  return s;
}

/// The interval and lambda more on either side, less what rounding might add.
TRACENORM_INLINE Interval widened(const Interval& slopes, double lambda) {
  if (lambda == 0) return slopes;
  const double below = lambda - 4 * kUnit * (std::abs(slopes.lower) + lambda);
  const double above = lambda - 4 * kUnit * (std::abs(slopes.upper) + lambda);
  return {std::isfinite(slopes.lower) ? slopes.lower - below : slopes.lower,
          std::isfinite(slopes.upper) ? slopes.upper + above : slopes.upper};
}

/// Under a penalty lambda |x| the conjugate of a sum is the least sum of conjugates over all ways to share the slope s,
/// that of lambda |x| being 0 up to lambda. Any share proves a bound; the loss's best is the one nearest to its own
/// slope at zero, `at_zero`, where its conjugate is least.
TRACENORM_INLINE double best_share(double s, double at_zero, double lambda, const Interval& slopes) {
  const double give = lambda - 2 * kUnit * (std::abs(s) + lambda);
  const double most = give > 0 ? give : 0.0;
  return slopes.clamp(Interval{s - most, s + most}.clamp(at_zero));
}

}  // namespace tracenorm::entry_slopes
