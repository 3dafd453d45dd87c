#include "io/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace tracenorm::io {
namespace {

/// Some twenty thousand values, from all over the file, are enough for a doubt.
std::size_t stride(std::size_t count) { return count / 20'000 + 1; }

/// The largest value in the direction of `sign`, how often it occurs, and the largest of the others.
struct Extreme {
  double value = -std::numeric_limits<double>::infinity();
  double next = -std::numeric_limits<double>::infinity();
  std::size_t count = 0;

  void add(double candidate) {
    if (candidate > value) {
      next = value;
      value = candidate;
      count = 0;
    }
    if (candidate == value) {
      ++count;
    } else {
      next = std::max(next, candidate);
    }
  }
};

}  // namespace

std::string ids_for_values(const std::vector<Real>& values) {
  constexpr std::size_t many = 100;
  std::unordered_set<Real> different;
  for (std::size_t k = 0; k < values.size() && different.size() <= many; k += stride(values.size())) {
    if (values[k] != std::floor(values[k]) || values[k] < 0) return {};
    different.insert(values[k]);
  }
  if (different.size() <= many) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return fmt::format(
      "the values are whole numbers from {} to {}, more than {} different ones; if they are ids, choose other columns",
      *least, *most, many);
}

std::string mark_among_values(const std::vector<Real>& values) {
  Extreme top;
  Extreme bottom;  // of the negated values
  std::size_t present = 0;
  for (std::size_t k = 0; k < values.size(); k += stride(values.size())) {
    const Real value = values[k];
    if (std::isnan(value)) continue;
    ++present;
    top.add(value);
    bottom.add(-static_cast<double>(value));
  }
  const auto doubt = [&](const Extreme& extreme, double far_end, double sign) -> std::string {
    const double range = extreme.next - far_end;  // of all other values
    const bool often = 20 * extreme.count >= present;
    if (!often || !(range > 0) || !(extreme.value - extreme.next > 3 * range)) return {};
    return fmt::format(
        "{:.7g} is about {:.2g} % of the values and lies far from all others ({:.4g} to {:.4g}): if it stands for "
        "none, say "
        "that it is missing",
        sign * extreme.value, 100.0 * static_cast<double>(extreme.count) / static_cast<double>(present),
        std::min(sign * extreme.next, sign * far_end), std::max(sign * extreme.next, sign * far_end));
  };
  const std::string high = doubt(top, -bottom.value, 1);
  return !high.empty() ? high : doubt(bottom, -top.value, -1);
}

}  // namespace tracenorm::io
