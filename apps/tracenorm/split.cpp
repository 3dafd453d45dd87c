#include "split.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "option_values.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

enum Part : unsigned char { kTrain, kValidation, kTest };

constexpr std::string_view kWants =
    "three shares TRAIN,VALID,TEST that add up to 1 (or 100), the first above 0, e.g. 0.5,0.25,0.25";

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

void check_not_empty(const Entries& part, double share, std::string_view name, Offset all) {
  if (share == 0 || part.size() > 0) return;
  throw Error(ErrorCode::input, fmt::format("--split: the {} part is empty: {:g} of {} entries is less than one; give "
                                            "it a larger share or more data",
                                            name, share, all));
}

}  // namespace

Shares parse_shares(const std::string& text) {
  std::vector<double> shares;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    shares.push_back(to_number("--split", text.substr(begin, end - begin), {0, 100, kWants}));
    begin = end + 1;
  }
  if (shares.size() != 3 || shares[0] <= 0) reject("--split", text, kWants);
  const double sum = shares[0] + shares[1] + shares[2];
  const double whole = sum > 50 ? 100 : 1;
  if (std::abs(sum - whole) > 1e-9 * whole) reject("--split", text, kWants);
  return {shares[0] / whole, shares[1] / whole, shares[2] / whole};
}

Split split_entries(Entries entries, const Shares& shares, std::uint64_t seed) {
  if (shares.validation == 0 && shares.test == 0) return {std::move(entries), {}, {}};
  const std::vector<Part> parts = draw_parts(entries.row.size(), shares, seed);
  Split split;
  deal<Index>(entries.row, parts, {&split.train.row, &split.validation.row, &split.test.row});
  deal<Index>(entries.col, parts, {&split.train.col, &split.validation.col, &split.test.col});
  deal<Real>(entries.value, parts, {&split.train.value, &split.validation.value, &split.test.value});
  const auto all = static_cast<Offset>(parts.size());
  check_not_empty(split.train, shares.train, "training", all);
  check_not_empty(split.validation, shares.validation, "validation", all);
  check_not_empty(split.test, shares.test, "test", all);
  return split;
}

}  // namespace tracenorm::app
