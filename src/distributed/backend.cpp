#include "distributed/backend.hpp"

#include <memory>
#include <utility>

#include "distributed/store.hpp"
#include "model/shard_cuts.hpp"
#include "model/shared_rows.hpp"

namespace tracenorm {

using namespace distributed;

Place DistributedBackend::open(const Problem& problem, const Execution& execution) const {
  const auto* sparse = std::get_if<SparseObservations>(&problem.observations);
  const auto shared = sparse != nullptr ? sparse->shared : nullptr;
  const auto part =
      std::make_shared<Part>(shared ? shared->share() : make_share(cut_shards(problem), ranks_), problem, ranks_);
  if (shared) {
    part->problem.observations = rows_here(*sparse);
  } else {
    part->problem.observations = rows_of(problem.observations, part->share.first(), part->share.last());
  }
  const Counts counts = count_observed(problem.observations, execution.threads());
  Place local = local_.open_rows(part->problem, {counts.col, shards_of(part->share, part->sums)}, execution);
  auto panels = std::make_unique<DistributedPanels>(part, std::move(local.panels), ranks_);
  auto store = std::make_unique<DistributedStore>(part, std::move(local.store), problem.observations, ranks_, *panels,
                                                  execution);
  return {std::move(panels), std::move(store)};
}

}  // namespace tracenorm
