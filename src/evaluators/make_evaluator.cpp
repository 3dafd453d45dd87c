#include "evaluators/cpu_dense.hpp"
#include "evaluators/cpu_sparse.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm {

std::unique_ptr<Evaluator> make_evaluator(const Problem& problem, std::uint64_t seed) {
  if (const auto* dense = std::get_if<DenseObservations>(&problem.observations)) {
    return std::make_unique<CpuDenseEvaluator>(problem, *dense, seed);
  }
  const auto& sparse = std::get<SparseObservations>(problem.observations);
  if (std::holds_alternative<L1Penalty>(problem.penalty) && penalty_lambda(problem.penalty) > 0) {
    return std::make_unique<CpuDenseEvaluator>(problem, std::make_unique<DenseObservations>(make_dense(sparse)), seed);
  }
  return std::make_unique<CpuSparseEvaluator>(problem, sparse, seed);
}

}  // namespace tracenorm
