#include "fit/value_range.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <type_traits>
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

/// Remembers most of the levels that it has met, each at one place: searching a set for every value takes ten times as
/// long.
class LevelsMet {
 public:
  LevelsMet() { levels_.fill(std::numeric_limits<Real>::quiet_NaN()); }
  bool again(Real value) {
    using Bits = std::conditional_t<sizeof(Real) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    constexpr auto spread = static_cast<Bits>(0x9e3779b97f4a7c15);  // makes the high bits depend on all of them
    Real& level = levels_[(std::bit_cast<Bits>(value) * spread) >> (std::numeric_limits<Bits>::digits - kDigits)];
    if (level == value) return true;
    level = value;
    return false;
  }

 private:
  static constexpr int kDigits = 10;
  std::array<Real, std::size_t{1} << kDigits> levels_;
};

/// What one pass says of the values here.
struct Tally {
  Real lower = std::numeric_limits<Real>::infinity();
  Real upper = -std::numeric_limits<Real>::infinity();
  Offset count = 0;
  Offset at_lower = 0;
  Offset at_upper = 0;
  std::set<Real> levels;  // or more than a few of them

  explicit Tally(std::span<const Real> values) {
    LevelsMet met;
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

  /// Of all ranks; unbounded where nobody has a value.
  [[nodiscard]] ValueRange ends(Ranks* ranks) const {
    double ends[2] = {-double(lower), double(upper)};
    if (ranks != nullptr) ranks->largest(ends);
    return -ends[0] <= ends[1] ? ValueRange{-ends[0], ends[1]} : ValueRange{};
  }
};

}  // namespace

ValueRange range_of(std::span<const Real> values, Ranks* ranks) { return Tally(values).ends(ranks); }

ValueRange clear_range(std::span<const Real> values, Ranks* ranks) {
  Tally all(values);
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

ValueRange range_for(std::optional<bool> clip, std::span<const Real> values, Ranks* ranks) {
  if (!clip) return clear_range(values, ranks);
  return *clip ? range_of(values, ranks) : ValueRange{};
}

}  // namespace tracenorm
