// What the finished runs say: measures with mean and deviation over the seeds. Everything here is computed from the
// log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/plan.hpp"

namespace tracenorm::app {

struct Statistic {
  std::vector<double> values;  ///< one per finished seed

  [[nodiscard]] bool empty() const { return values.empty(); }
  [[nodiscard]] double mean() const;
  /// Of the sample; zero for a single value.
  [[nodiscard]] double deviation() const;
};

class Results {
 public:
  explicit Results(const Plan& plan) : plan_(plan) {}

  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// Finished runs of a method in seed order.
  [[nodiscard]] std::vector<const Json*> finished(const Experiment& experiment, const Case& instance,
                                                  const MethodPlan& method) const;
  [[nodiscard]] Statistic statistic(const Experiment& experiment, const Case& instance, const MethodPlan& method,
                                    const Measure& measure) const;
  /// The best certified lower bound of the problem that this run solved, by any run of the same case and seed.
  [[nodiscard]] std::optional<double> best_bound(const Experiment& experiment, const Case& instance,
                                                 const Json& run) const;

 private:
  [[nodiscard]] std::optional<double> value(const Experiment& experiment, const Case& instance, const Json& run,
                                            const std::string& expression) const;

  const Plan& plan_;
};

/// The radius that a run's answer is held against: the bound, or for a penalised problem the trace norm of its answer.
double radius_of(const Json& run);
/// The objective without a penalty on the trace norm.
double bounded_objective(const Json& run);

/// "0.8716 ± 0.0075"; without a deviation when there is one value, nothing when there is none.
std::string to_text(const Statistic& statistic, const Measure& measure);
std::string to_text(double value, const Measure& measure);

}  // namespace tracenorm::app
