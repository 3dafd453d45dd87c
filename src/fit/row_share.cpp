#include "fit/row_share.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/random.hpp"

namespace tracenorm {

namespace {

constexpr std::uint64_t kRowStream = 0x7d3f0a1c59e8b264ULL;

}  // namespace

RowShare draw_rows(const SparseObservations& all, Offset entries, std::uint64_t seed) {
  const SparsePattern& pattern = all.pattern;
  Random random(seed ^ kRowStream);
  std::vector<Index> order(static_cast<std::size_t>(pattern.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  std::size_t taken = 0;
  for (Offset have = 0; have < entries && taken < order.size(); ++taken) {
    std::swap(order[taken], order[taken + random.below(order.size() - taken)]);
    have += pattern.begin()[order[taken] + 1] - pattern.begin()[order[taken]];
  }
  order.resize(taken);
  std::sort(order.begin(), order.end());
  RowShare drawn;
  for (const Index i : order) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      drawn.entries.row.push_back(drawn.rows);
      drawn.entries.col.push_back(pattern.col()[e]);
      drawn.entries.value.push_back(all.value[static_cast<std::size_t>(e)]);
      if (!all.weight.empty()) drawn.weight.push_back(all.weight[static_cast<std::size_t>(e)]);
    }
    ++drawn.rows;
  }
  return drawn;
}

}  // namespace tracenorm
