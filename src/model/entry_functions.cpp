#include "model/entry_functions.hpp"

#include <cmath>

#include "base/among_ranks.hpp"
#include "base/exact_sum.hpp"
#include "model/coded_data.hpp"
#include "model/shared_rows.hpp"

namespace tracenorm {

double root_mean_square(const Observations& observations, const Execution& execution) {
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) {
    const Array<Real>& value = sparse->value;
    const ExactSum squares =
        exact_sum(execution, value.size(), [&](std::size_t e) { return double(value[e]) * double(value[e]); });
    const Offset count = all_entries(*sparse);
    return count > 0 ? std::sqrt(total(squares, ranks_of(*sparse)) / static_cast<double>(count)) : 1.0;
  }
  const DenseValues& value = std::get<DenseObservations>(observations).value;
  double sum = 0;
  Offset observed = 0;
  const auto add = [&](Real y, Offset count) {
    sum += static_cast<double>(count) * double(y) * double(y);
    observed += count;
  };
  if (!value.code().empty()) {
    for (const auto& [y, count] : count_levels(value)) add(y, count);
  } else {
    for (const Real y : value) {
      if (!std::isnan(y)) add(y, 1);
    }
  }
  return observed > 0 ? std::sqrt(sum / static_cast<double>(observed)) : 1.0;
}

double penalty_lambda(const Penalty& penalty) {
  if (const auto* l1 = std::get_if<L1Penalty>(&penalty)) return l1->lambda;
  if (const auto* complement = std::get_if<ComplementSquaredPenalty>(&penalty)) return complement->lambda;
  return 0.0;
}

kernels::Mode sparse_mode(const Penalty& penalty) {
  // A lambda of zero is no penalty; treating it as one would divide by it.
  const bool complement = std::holds_alternative<ComplementSquaredPenalty>(penalty) && penalty_lambda(penalty) > 0;
  return complement ? kernels::Mode::observed_complement : kernels::Mode::observed;
}

kernels::Mode dense_mode(const Penalty& penalty) {
  if (penalty_lambda(penalty) == 0.0) return kernels::Mode::masked;
  if (std::holds_alternative<L1Penalty>(penalty)) return kernels::Mode::masked_l1;
  return kernels::Mode::masked_complement;
}

}  // namespace tracenorm
