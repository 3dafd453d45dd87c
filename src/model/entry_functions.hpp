// Joins a loss (a variant) with the kernels: one visit per pass, so the loop inside knows its loss at compile time.
#pragma once

#include <span>

#include "base/execution.hpp"
#include "kernels/kernels.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {

/// Of the observed values (the others are NaN); 1 where there is none.
double root_mean_square(const Observations& observations, const Execution& execution);

/// The penalty's lambda; zero for none.
double penalty_lambda(const Penalty& penalty);

/// Mode of the entrywise kernels for sparse data. An l1 penalty has none: it makes the problem dense.
kernels::Mode sparse_mode(const Penalty& penalty);
kernels::Mode dense_mode(const Penalty& penalty);

/// Calls visitor(loss, kernels of that loss) for the loss that the variant holds.
template <class Visitor>
decltype(auto) visit_kernels(const Loss& loss, kernels::Mode mode, bool weighted, Visitor&& visitor) {
  return std::visit(
      [&](const auto& l) -> decltype(auto) {
        using L = std::decay_t<decltype(l)>;
        return visitor(l, kernels::loss_kernels<L>(mode, weighted));
      },
      loss);
}

}  // namespace tracenorm
