#include "model/coded_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tracenorm {

DenseValues coded_where_possible(const DenseValues& value) {
  if (!value.code().empty()) return value;
  constexpr std::size_t most = 128;  // codes 0 to 127
  std::vector<Real> levels;          // the different values, ascending
  Real last = std::numeric_limits<Real>::quiet_NaN();
  for (const Real y : value) {
    if (y == last || std::isnan(y)) continue;
    last = y;
    const auto place = std::lower_bound(levels.begin(), levels.end(), y);
    if (place != levels.end() && *place == y) continue;
    if (levels.size() == most) return value;
    levels.insert(place, y);
  }
  if (levels.empty()) return value;
  Real scale = 1;
  for (std::size_t k = 1; k < levels.size(); ++k) {
    scale = k == 1 ? levels[k] - levels[k - 1] : std::min(scale, levels[k] - levels[k - 1]);
  }
  const auto code_of = [&](Real y) { return std::nearbyint((double(y) - double(levels[0])) / double(scale)); };
  for (const Real y : levels) {  // every product and sum must be exact, with and without fused multiply-add
    const double code = code_of(y);
    const double product = double(scale) * code;
    if (code >= double(most) || double(Real(product)) != product || product + double(levels[0]) != double(y))
      return value;
  }
  std::vector<std::int8_t> code(value.size());
  for (std::size_t e = 0; e < value.size(); ++e) {
    code[e] = std::isnan(value[e]) ? DenseValues::kMissing : static_cast<std::int8_t>(code_of(value[e]));
  }
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
