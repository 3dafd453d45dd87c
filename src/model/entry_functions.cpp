#include "model/entry_functions.hpp"

#include <cmath>

#include "model/coded_data.hpp"

namespace tracenorm {

double root_mean_square(const Observations& observations) {
  double squares = 0;
  Offset observed = 0;
  const auto add = [&](Real y, Offset count) {
    squares += static_cast<double>(count) * double(y) * double(y);
    observed += count;
  };
  const auto* dense = std::get_if<DenseObservations>(&observations);
  if (dense != nullptr && !dense->value.code().empty()) {
    for (const auto& [y, count] : count_levels(dense->value)) add(y, count);
  } else {
    std::visit(
        [&](const auto& data) {
          for (const Real y : data.value) {
            if (!std::isnan(y)) add(y, 1);
          }
        },
        observations);
  }
  return observed > 0 ? std::sqrt(squares / static_cast<double>(observed)) : 1.0;
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
