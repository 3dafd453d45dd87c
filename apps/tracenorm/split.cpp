#include "split.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "base/topic.hpp"
#include "option_values.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

constexpr std::string_view kWants =
    "three shares TRAIN,VALID,TEST that add up to 1 (or 100), the first above 0, e.g. 0.5,0.25,0.25";

void check_not_empty(Offset entries, double share, std::string_view name, Offset all) {
  if (share == 0 || entries > 0) return;
  throw TopicError(ErrorCode::input, Topic::too_few_entries,
                   fmt::format("--split: the {} part is empty: {:g} of {} entries is less than one; give "
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

Split split_data(Entries entries, std::optional<DealtEntries> dealt, const Shares& shares, std::uint64_t seed,
                 int threads) {
  const Offset all = dealt ? dealt->all : entries.size();
  Split split = dealt ? split_entries(std::move(entries), *std::move(dealt), shares, seed, {}, threads)
                      : split_entries(std::move(entries), shares, seed, {}, threads);
  check_not_empty(split.dealt ? split.dealt->all : split.train.size(), shares.train, "training", all);
  check_not_empty(split.validation.size(), shares.validation, "validation", all);
  check_not_empty(split.test.size(), shares.test, "test", all);
  return split;
}

}  // namespace tracenorm::app
