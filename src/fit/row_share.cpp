#include "fit/row_share.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace tracenorm {

namespace {

constexpr std::uint64_t kRowStream = 0x7d3f0a1c59e8b264ULL;

}  // namespace

RowShare draw_rows(const SparseObservations& all, Offset entries, std::uint64_t seed) {
  const SparsePattern& pattern = all.pattern;
  const double probability = static_cast<double>(entries) / static_cast<double>(std::max<Offset>(pattern.entries(), 1));
  Random random(seed ^ kRowStream);
  RowShare drawn;
  for (Index i = 0; i < pattern.rows(); ++i) {
    if (!(random.uniform() < probability)) continue;
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      drawn.entries.row.push_back(drawn.rows);
      drawn.entries.col.push_back(pattern.col()[e]);
      drawn.entries.value.push_back(all.value[static_cast<std::size_t>(e)]);
      if (!all.weight.empty()) drawn.weight.push_back(all.weight[static_cast<std::size_t>(e)]);
    }
    ++drawn.rows;
  }
  drawn.share = static_cast<double>(drawn.rows) / static_cast<double>(std::max<Index>(pattern.rows(), 1));
  return drawn;
}

}  // namespace tracenorm
