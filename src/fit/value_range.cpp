#include "fit/value_range.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/among_ranks.hpp"

namespace tracenorm {

namespace {

/// Few levels: at most this many different values, and each met this often in the mean.
constexpr std::size_t kMostLevels = 32;
constexpr double kEachLevel = 10;

/// A clear end: this share of all values, and at least so many of them, are exactly there.
constexpr double kEndShare = 1e-3;
constexpr double kLeastAtEnd = 10;

}  // namespace

ValueRange range_of(std::span<const Real> values, Ranks* ranks) {
  ValueRange range;
  bool any = false;
  for (const Real value : values) {
    if (std::isnan(value)) continue;
    const auto y = double(value);
    range = any ? ValueRange{std::min(range.lower, y), std::max(range.upper, y)} : ValueRange{y, y};
    any = true;
  }
  if (ranks == nullptr) return range;
  double ends[2] = {any ? -range.lower : -kInfinity, any ? range.upper : -kInfinity};
  ranks->largest(ends);
  return {-ends[0], ends[1]};
}

ValueRange clear_range(std::span<const Real> values, Ranks* ranks) {
  const ValueRange ends = range_of(values, ranks);
  std::set<Real> levels;
  double count = 0;
  double at_lower = 0;
  double at_upper = 0;
  for (const Real value : values) {
    if (std::isnan(value)) continue;
    ++count;
    at_lower += double(value) == ends.lower ? 1 : 0;
    at_upper += double(value) == ends.upper ? 1 : 0;
    if (levels.size() <= kMostLevels) levels.insert(value);
  }
  if (ranks != nullptr) {
    count = total_count(count, ranks);
    at_lower = total_count(at_lower, ranks);
    at_upper = total_count(at_upper, ranks);
    for (const Real level : gathered(std::vector<Real>(levels.begin(), levels.end()), ranks)) levels.insert(level);
  }
  if (levels.size() < 2) return {};
  const bool few = levels.size() <= kMostLevels && count >= kEachLevel * static_cast<double>(levels.size());
  const bool cut_off = std::min(at_lower, at_upper) >= std::max(kLeastAtEnd, kEndShare * count);
  return few || cut_off ? ends : ValueRange{};
}

ValueRange range_for(std::optional<bool> clip, std::span<const Real> values, Ranks* ranks) {
  if (!clip) return clear_range(values, ranks);
  return *clip ? range_of(values, ranks) : ValueRange{};
}

}  // namespace tracenorm
