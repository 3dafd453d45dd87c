#include "model/shard_cuts.hpp"

#include <variant>

#include "model/entry_functions.hpp"

namespace tracenorm {

ShardCuts cut_shards(const Problem& problem) {
  const Index all_rows = rows(problem.observations);
  const Index all_cols = cols(problem.observations);
  const auto* sparse = std::get_if<SparseObservations>(&problem.observations);
  const bool on_all = std::holds_alternative<L1Penalty>(problem.penalty) && penalty_lambda(problem.penalty) > 0;
  if (sparse == nullptr || on_all) {  // full rows
    return cut_shards(all_rows, all_cols, static_cast<Offset>(all_rows) * all_cols, nullptr);
  }
  return cut_shards(all_rows, all_cols, sparse->pattern.entries(), sparse->pattern.begin());
}

}  // namespace tracenorm
