// Which points of a long curve a chart needs.
#pragma once

#include <cmath>
#include <set>

namespace tracenorm::app {

/// Indices below `count`: all of them when there are few, otherwise about `each` evenly spaced ones on a linear axis
/// and as many on a logarithmic one, the first and the last included.
inline std::set<std::size_t> thinned(std::size_t count, std::size_t each) {
  std::set<std::size_t> kept;
  if (count == 0) return kept;
  const auto last = static_cast<double>(count - 1);
  for (std::size_t k = 0; k < each; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(each - 1);
    kept.insert(static_cast<std::size_t>(std::lround(share * last)));
    kept.insert(static_cast<std::size_t>(std::lround(std::pow(last + 1, share) - 1)));
  }
  return kept;
}

}  // namespace tracenorm::app
