// Which fold each entry is in when predictions are judged by folds.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace tracenorm::report {

/// Folds of equal size up to one, in an order that depends on the seed alone.
inline std::vector<int> draw_folds(std::size_t count, int folds, std::uint64_t seed) {
  std::vector<int> fold(count);
  for (std::size_t e = 0; e < count; ++e) fold[e] = static_cast<int>(e % static_cast<std::size_t>(folds));
  Random random(seed);
  for (std::size_t e = count; e > 1; --e) std::swap(fold[e - 1], fold[random.below(e)]);
  return fold;
}

}  // namespace tracenorm::report
