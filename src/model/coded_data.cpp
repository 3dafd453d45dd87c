#include "model/coded_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/levels_met.hpp"

namespace tracenorm {

namespace {

constexpr std::size_t kMostLevels = 128;  // codes 0 to 127
constexpr Offset kBlock = Offset{1} << 18U;

/// The different values, ascending, but no more than just too many.
std::vector<Real> levels_of(std::span<const Real> values) {
  std::vector<Real> levels;
  LevelsMet met;
  for (const Real y : values) {
    if (std::isnan(y) || met.again(y)) continue;
    const auto place = std::lower_bound(levels.begin(), levels.end(), y);
    if (place != levels.end() && *place == y) continue;
    levels.insert(place, y);
    if (levels.size() > kMostLevels) break;
  }
  return levels;
}

/// The same of blocks, possibly at once.
std::vector<Real> levels_of(std::span<const Real> values, const Execution& execution) {
  const auto size = static_cast<Offset>(values.size());
  std::vector<std::vector<Real>> found(static_cast<std::size_t>((size + kBlock - 1) / kBlock));
  execution.for_each_block(size, kBlock, [&](Offset first, Offset count) {
    found[static_cast<std::size_t>(first / kBlock)] =
        levels_of(values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
  std::vector<Real> levels;
  for (const std::vector<Real>& more : found) {
    std::vector<Real> both;
    std::set_union(levels.begin(), levels.end(), more.begin(), more.end(), std::back_inserter(both));
    levels = std::move(both);
    if (levels.size() > kMostLevels) break;
  }
  return levels;
}

}  // namespace

DenseValues coded_where_possible(const DenseValues& values, const Execution& execution) {
  if (!values.code().empty()) return values;
  const Array<Real> value = values.plain();
  const std::vector<Real> levels = levels_of({value.data(), value.size()}, execution);
  if (levels.size() > kMostLevels) return values;
  if (levels.empty()) return values;
  Real scale = 1;
  for (std::size_t k = 1; k < levels.size(); ++k) {
    scale = k == 1 ? levels[k] - levels[k - 1] : std::min(scale, levels[k] - levels[k - 1]);
  }
  const auto code_of = [&](Real y) { return std::nearbyint((double(y) - double(levels[0])) / double(scale)); };
  for (const Real y : levels) {  // every product and sum must be exact, with and without fused multiply-add
    const double code = code_of(y);
    const double product = double(scale) * code;
    if (code >= double(kMostLevels) || double(Real(product)) != product || product + double(levels[0]) != double(y))
      return values;
  }
  std::vector<std::int8_t> code(value.size());
  execution.for_each_block(static_cast<Offset>(value.size()), kBlock, [&](Offset first, Offset count) {
    const Real* from = value.data() + first;
    std::transform(from, from + count, code.begin() + first, [offset = levels[0], scale](Real y) {
      const double steps = (double(y) - double(offset)) / double(scale);  // whole, but for less than a quarter
      return std::isnan(y) ? DenseValues::kMissing : static_cast<std::int8_t>(steps + 0.25);
    });
  });
  return {std::move(code), levels[0], scale};
}

std::vector<std::pair<Real, Offset>> count_levels(const DenseValues& coded) {
  // Four tables, for one would have to wait where the same code comes twice in a row.
  std::array<std::array<Offset, 256>, 4> counts{};
  const Array<std::int8_t>& code = coded.code();
  for (std::size_t e = 0; e < code.size(); ++e) ++counts[e % 4][static_cast<std::uint8_t>(code[e])];
  std::vector<std::pair<Real, Offset>> levels;
  for (std::size_t k = 0; k < 128; ++k) {  // what is missing has a negative code
    const Offset count = counts[0][k] + counts[1][k] + counts[2][k] + counts[3][k];
    if (count > 0) levels.emplace_back(coded.offset() + coded.scale() * Real(k), count);
  }
  return levels;
}

}  // namespace tracenorm
