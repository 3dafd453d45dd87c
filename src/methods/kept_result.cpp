#include "methods/kept_result.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

#include "linalg/kept_matrix.hpp"

namespace tracenorm {

namespace {

/// Calls visit(number) for every number of an iteration, in an order that stays.
template <class Visit>
void for_each_number(Iteration& i, Visit&& visit) {
  visit(i.k);
  visit(i.seconds);
  visit(i.objective);
  visit(i.lower_bound);
  visit(i.relative_gap);
  visit(i.width);
  visit(i.step);
  visit(i.rank);
  visit(i.sigma);
  visit(i.validation_rmse);
  visit(i.validation_error);
  visit(i.counters.passes);
  visit(i.counters.products);
  visit(i.counters.certificate_passes);
}
constexpr Eigen::Index kNumbersOfIteration = 14;

}  // namespace

void exchange(Exchange state, Certificate& certificate) {
  state.number("proof", certificate.proof);
  state.number("failure_probability", certificate.failure_probability);
  state.number("slopes", certificate.slopes);
}

void exchange(Exchange state, std::optional<DualPoint>& dual) {
  bool there = dual.has_value();
  state.number("there", there);
  if (!there) return;
  if (state.restores()) dual.emplace();
  state.entries("slope", dual->slope);
  exchange(state.part("elsewhere"), dual->elsewhere);
}

void exchange(Exchange state, std::vector<Iteration>& trace) {
  Eigen::Matrix<double, kNumbersOfIteration, Eigen::Dynamic> numbers(kNumbersOfIteration, trace.size());
  const auto meet = [&](auto&& each) {
    for (std::size_t k = 0; k < trace.size(); ++k) {
      Eigen::Index row = 0;
      for_each_number(trace[k], [&](auto& number) { each(number, numbers(row++, static_cast<Eigen::Index>(k))); });
    }
  };
  if (!state.restores()) meet([](const auto& number, double& kept) { kept = static_cast<double>(number); });
  state.matrix("trace", numbers);
  if (!state.restores()) return;
  trace.resize(static_cast<std::size_t>(numbers.cols()));
  meet([](auto& number, double kept) {
    using Number = std::decay_t<decltype(number)>;
    // Of a damaged file anything may come, and not all of it is a count.
    const bool fits = std::is_floating_point_v<Number> || std::abs(kept) <= (sizeof(Number) > 4 ? 0x1p53 : 0x1p31 - 1);
    number = fits ? static_cast<Number>(kept) : Number{};
  });
}

void exchange(Exchange state, Result& result) {
  state.number("status", result.status);
  state.text("message", result.message);
  state.text("method", result.method);
  exchange(state.part("solution"), result.solution);
  state.list("row_offsets", result.offsets.row);
  state.list("col_offsets", result.offsets.col);
  state.number("objective", result.objective);
  state.number("lower_bound", result.lower_bound);
  state.number("relative_gap", result.relative_gap);
  state.number("trace_norm", result.trace_norm);
  exchange(state.part("certificate"), result.certificate);
  exchange(state.part("dual"), result.dual);
  state.number("iterations", result.iterations);
  state.number("solution_iteration", result.solution_iteration);
  state.number("seconds", result.seconds);
  state.number("passes", result.counters.passes);
  state.number("products", result.counters.products);
  state.number("certificate_passes", result.counters.certificate_passes);
  exchange(state, result.trace);
  state.text("version", result.environment.version);
  state.text("compiler", result.environment.compiler);
  state.text("instruction_set", result.environment.instruction_set);
  state.number("threads", result.environment.threads);
  std::string seed = std::to_string(result.environment.seed);  // more digits than a double has
  state.text("seed", seed);
  if (state.restores()) result.environment.seed = std::strtoull(seed.c_str(), nullptr, 10);
  state.text("backend", result.environment.backend);
}

}  // namespace tracenorm
