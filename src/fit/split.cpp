#include "fit/split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/random.hpp"

namespace tracenorm {

namespace {

enum Part : unsigned char { kTrain, kValidation, kTest };

/// Which part each entry belongs to: the right number of each, shuffled (Fisher and Yates).
std::vector<Part> draw_parts(std::size_t count, const Shares& shares, std::uint64_t seed) {
  const auto size = [&](double share) {
    return static_cast<std::size_t>(std::llround(share * static_cast<double>(count)));
  };
  const std::size_t validation = size(shares.validation);
  const std::size_t test = std::min(size(shares.test), count - validation);
  std::vector<Part> parts(count, kTrain);
  std::fill_n(parts.begin(), validation, kValidation);
  std::fill_n(parts.begin() + static_cast<std::ptrdiff_t>(validation), test, kTest);
  Random random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(parts[i - 1], parts[random.below(i)]);
  return parts;
}

/// Deals one array out to its parts, and frees it: with large data the peak of memory is here.
template <class T>
void deal(std::vector<T>& source, const std::vector<Part>& parts, const std::array<std::vector<T>*, 3>& targets) {
  std::array<std::size_t, 3> sizes{};
  for (const Part part : parts) ++sizes[part];
  for (std::size_t k = 0; k < targets.size(); ++k) targets[k]->reserve(sizes[k]);
  for (std::size_t e = 0; e < parts.size(); ++e) targets[parts[e]]->push_back(source[e]);
  source = {};
}

}  // namespace

Split split_entries(Entries entries, const Shares& shares, std::uint64_t seed, std::vector<Real> weight) {
  if (shares.validation == 0 && shares.test == 0) return {std::move(entries), {}, {}, std::move(weight)};
  const std::vector<Part> parts = draw_parts(entries.row.size(), shares, seed);
  Split split;
  deal<Index>(entries.row, parts, {&split.train.row, &split.validation.row, &split.test.row});
  deal<Index>(entries.col, parts, {&split.train.col, &split.validation.col, &split.test.col});
  deal<Real>(entries.value, parts, {&split.train.value, &split.validation.value, &split.test.value});
  std::vector<Real> unused;
  if (!weight.empty()) deal<Real>(weight, parts, {&split.train_weight, &unused, &unused});
  return split;
}

}  // namespace tracenorm
