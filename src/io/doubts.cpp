#include "io/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace tracenorm::io {
std::size_t doubt_stride(std::size_t count) { return count / 20'000 + 1; }

ValueSample sample_of(const std::vector<Real>& values) {
  ValueSample sample;
  for (std::size_t k = 0; k < values.size(); k += doubt_stride(values.size())) sample.some.push_back(values[k]);
  sample.ends = [&values] {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return std::pair(*least, *most);
  };
  return sample;
}

std::string ids_for_values(const ValueSample& values) {
  constexpr std::size_t many = 100;
  std::unordered_set<Real> different;
  for (const Real value : values.some) {
    if (different.size() > many) break;
    if (value != std::floor(value) || value < 0) return {};
    different.insert(value);
  }
  if (different.size() <= many) return {};
  const auto [least, most] = values.ends();
  return fmt::format(
      "the values are whole numbers from {} to {}, more than {} different ones; if they are ids, choose other columns",
      least, most, many);
}

std::string mark_among_values(const ValueSample& values) {
  std::vector<Real> sample;
  std::copy_if(values.some.begin(), values.some.end(), std::back_inserter(sample),
               [](Real value) { return !std::isnan(value); });
  std::sort(sample.begin(), sample.end());
  std::pair<std::ptrdiff_t, Real> most{0, 0};  // how often, which
  for (auto begin = sample.begin(); begin != sample.end();) {
    const auto end = std::upper_bound(begin, sample.end(), *begin);
    most = std::max(most, {end - begin, *begin});
    begin = end;
  }
  const auto [count, mark] = most;
  const double share = static_cast<double>(count) / static_cast<double>(sample.size());
  sample.erase(std::remove(sample.begin(), sample.end(), mark), sample.end());
  if (sample.empty() || share < 0.05) return {};
  // Most of the others: a few columns that hold something else must not hide the mark.
  const double low = sample[sample.size() / 10];
  const double high = sample[sample.size() - 1 - sample.size() / 10];
  const double margin = 3 * (high - low);
  if (margin == 0 || (mark >= low - margin && mark <= high + margin)) return {};
  return fmt::format(
      "{:.7g} is about {:.2g} % of the values, and most others lie far from it, between {:.4g} and {:.4g}; if it "
      "stands for none, say that it is missing",
      mark, 100 * share, low, high);
}

}  // namespace tracenorm::io
