#include "model/custom_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

constexpr std::size_t kMostData = 64;

/// Some of the different data.
std::vector<double> sample(std::span<const Real> data) {
  std::vector<double> y;
  const std::size_t stride = std::max<std::size_t>(1, data.size() / kMostData);
  for (std::size_t e = 0; e < data.size(); e += stride) {
    if (!std::isnan(data[e])) y.push_back(double(data[e]));
  }
  std::sort(y.begin(), y.end());
  y.erase(std::unique(y.begin(), y.end()), y.end());
  return y;
}

/// Where predictions may be, ascending.
std::vector<double> grid(double reach, double radius) {
  const double far = std::max(reach, std::min(radius, 1e6 * reach));
  std::vector<double> x{-far, -far / 2, far / 2, far};
  for (const double near : {0.01, 0.05}) x.insert(x.end(), {-near * reach, near * reach});
  for (int k = -20; k <= 20; ++k) x.push_back(0.15 * k * reach);
  std::sort(x.begin(), x.end());
  x.erase(std::unique(x.begin(), x.end()), x.end());
  return x;
}

}  // namespace

void check_custom(const losses::Custom& loss, std::span<const Real> data, double radius) {
  const std::vector<double> y = sample(data);
  if (y.empty()) return;
  const double reach = std::max({1.0, std::abs(y.front()), std::abs(y.back())});
  const std::vector<double> x = grid(reach, radius);
  std::vector<double> f(x.size());
  for (const double datum : y) {
    const std::vector<double> same(x.size(), datum);
    loss.values(x.data(), same.data(), f.data(), x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (std::isfinite(f[k])) continue;
      throw Error(ErrorCode::usage,
                  fmt::format("loss {} is {} at prediction {:g}, datum {:g}; it must be finite for "
                              "every prediction",
                              loss.label, std::isnan(f[k]) ? "not a number" : "infinite", x[k], datum));
    }
    for (std::size_t k = 1; k + 1 < x.size(); ++k) {
      const double share = (x[k] - x[k - 1]) / (x[k + 1] - x[k - 1]);
      const double chord = f[k - 1] + share * (f[k + 1] - f[k - 1]);
      if (f[k] - chord <= 1e-9 * (std::abs(f[k - 1]) + std::abs(f[k + 1]) + 1e-300)) continue;
      throw Error(ErrorCode::usage, fmt::format("loss {} is not convex: for datum {:g} its value at prediction {:g} "
                                                "lies above the line between its values at {:g} and {:g}",
                                                loss.label, datum, x[k], x[k - 1], x[k + 1]));
    }
  }
}

}  // namespace tracenorm
