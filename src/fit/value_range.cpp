#include "fit/value_range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/among_ranks.hpp"
#include "base/levels_met.hpp"

namespace tracenorm {

namespace {

/// Few levels: at most this many different values, and each met this often in the mean.
constexpr std::size_t kMostLevels = 32;
constexpr double kEachLevel = 10;

/// A clear end: this share of all values, and at least so many of them, are exactly there.
constexpr double kEndShare = 1e-3;
constexpr double kLeastAtEnd = 10;

/// What one pass says of the values here.
struct Tally {
  Real lower = std::numeric_limits<Real>::infinity();
  Real upper = -std::numeric_limits<Real>::infinity();
  Offset count = 0;
  Offset at_lower = 0;
  Offset at_upper = 0;
  std::set<Real> levels;  // or more than a few of them

  Tally() = default;
  explicit Tally(std::span<const Real> values) {
    LevelsMet met;  // searching a set for every value takes ten times as long
    for (const Real value : values) {
      if (std::isnan(value)) continue;
      ++count;
      if (value < lower) {
        lower = value;
        at_lower = 0;
      }
      if (value > upper) {
        upper = value;
        at_upper = 0;
      }
      at_lower += value == lower ? 1 : 0;
      at_upper += value == upper ? 1 : 0;
      if (levels.size() <= kMostLevels && !met.again(value)) levels.insert(value);
    }
  }

  /// Of blocks, possibly at once.
  Tally(std::span<const Real> values, const Execution& execution) {
    constexpr Offset block = Offset{1} << 18U;
    const auto size = static_cast<Offset>(values.size());
    std::vector<Tally> parts(static_cast<std::size_t>((size + block - 1) / block));
    execution.for_each_block(size, block, [&](Offset first, Offset length) {
      parts[static_cast<std::size_t>(first / block)] =
          Tally(values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(length)));
    });
    for (const Tally& part : parts) add(part);
  }

  void add(const Tally& more) {
    if (more.lower < lower) at_lower = 0;
    if (more.upper > upper) at_upper = 0;
    lower = std::min(lower, more.lower);
    upper = std::max(upper, more.upper);
    at_lower += more.lower == lower ? more.at_lower : 0;
    at_upper += more.upper == upper ? more.at_upper : 0;
    count += more.count;
    if (levels.size() <= kMostLevels) levels.insert(more.levels.begin(), more.levels.end());
  }

  /// Of all ranks; unbounded where nobody has a value.
  [[nodiscard]] ValueRange ends(Ranks* ranks) const {
    double ends[2] = {-double(lower), double(upper)};
    if (ranks != nullptr) ranks->largest(ends);
    return -ends[0] <= ends[1] ? ValueRange{-ends[0], ends[1]} : ValueRange{};
  }
};

}  // namespace

ValueRange range_of(std::span<const Real> values, Ranks* ranks, const Execution& execution) {
  return Tally(values, execution).ends(ranks);
}

ValueRange clear_range(std::span<const Real> values, Ranks* ranks, const Execution& execution) {
  Tally all(values, execution);
  const ValueRange ends = all.ends(ranks);
  if (ranks != nullptr) {
    all.count = total_count(all.count, ranks);
    all.at_lower = total_count(double(all.lower) == ends.lower ? all.at_lower : 0, ranks);
    all.at_upper = total_count(double(all.upper) == ends.upper ? all.at_upper : 0, ranks);
    for (const Real level : gathered(std::vector<Real>(all.levels.begin(), all.levels.end()), ranks)) {
      all.levels.insert(level);
    }
  }
  if (all.levels.size() < 2) return {};
  const auto count = static_cast<double>(all.count);
  const bool few = all.levels.size() <= kMostLevels && count >= kEachLevel * static_cast<double>(all.levels.size());
  const auto at_end = static_cast<double>(std::min(all.at_lower, all.at_upper));
  const bool cut_off = at_end >= std::max(kLeastAtEnd, kEndShare * count);
  return few || cut_off ? ends : ValueRange{};
}

ValueRange range_for(std::optional<bool> clip, std::span<const Real> values, Ranks* ranks, const Execution& execution) {
  if (!clip) return clear_range(values, ranks, execution);
  return *clip ? range_of(values, ranks, execution) : ValueRange{};
}

}  // namespace tracenorm
