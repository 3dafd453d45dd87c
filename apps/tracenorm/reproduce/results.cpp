#include "reproduce/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tracenorm::app {

namespace {

std::optional<double> number_at(const Json& run, const std::string& pointer) {
  const Json::json_pointer place(pointer);
  if (!run.contains(place) || !run[place].is_number()) return std::nullopt;
  return run[place].get<double>();
}

/// "/a" or "/a over /b".
std::optional<double> quotient(const Json& run, const std::string& expression) {
  constexpr std::string_view kOver = " over ";
  const std::size_t at = expression.find(kOver);
  if (at == std::string::npos) return number_at(run, expression);
  const auto above = number_at(run, expression.substr(0, at));
  const auto below = number_at(run, expression.substr(at + kOver.size()));
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

/// Whether a lower bound of one is a lower bound of the other: the same data, loss, penalty and radius.
bool same_problem(const Json& a, const Json& b) {
  for (const char* name : {"loss", "penalty", "rows", "cols", "observed"}) {
    if (a["result"][name] != b["result"][name]) return false;
  }
  return std::abs(radius_of(a) - radius_of(b)) <= 1e-9 * radius_of(b);
}

}  // namespace

double Statistic::mean() const {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Statistic::deviation() const {
  if (values.size() < 2) return 0;
  const double centre = mean();
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double radius_of(const Json& run) {
  const Json& result = run["result"];
  const Json& value = result["radius"].is_number() ? result["radius"] : result["trace_norm"];
  return value.is_number() ? value.get<double>() : 0;
}

double bounded_objective(const Json& run) {
  const Json& result = run["result"];
  const char* name =
      result.contains("objective_without_trace_penalty") ? "objective_without_trace_penalty" : "objective";
  return result[name].is_number() ? result[name].get<double>() : std::nan("");
}

std::vector<const Json*> Results::finished(const Experiment& experiment, const Case& instance,
                                           const MethodPlan& method) const {
  std::vector<const Json*> all;
  if (!Experiment::belongs(instance, method)) return all;
  for (int seed = 1; seed <= plan_.seeds(experiment, instance, method); ++seed) {
    if (const Json* run = plan_.finished({&experiment, &instance, &method, seed})) all.push_back(run);
  }
  return all;
}

std::optional<double> Results::best_bound(const Experiment& experiment, const Case& instance, const Json& run) const {
  std::optional<double> best;
  for (const MethodPlan& method : experiment.methods) {
    if (!Experiment::belongs(instance, method)) continue;
    const Json* other = plan_.finished({&experiment, &instance, &method, run["seed"].get<int>()});
    if (other == nullptr || !(*other)["result"]["radius"].is_number()) continue;
    if (!same_problem(*other, run)) continue;
    const Json& bound = (*other)["result"]["lower_bound"];
    if (bound.is_number()) best = std::max(best.value_or(bound.get<double>()), bound.get<double>());
  }
  return best;
}

std::optional<double> Results::value(const Experiment& experiment, const Case& instance, const Json& run,
                                     const std::string& expression) const {
  if (expression == "/result/solution_iteration" && run["result"]["radius_path"].is_array()) {
    return std::nullopt;  // of the last radius alone
  }
  if (expression == "excess") {  // over the best bound that any method of this case and seed certified
    const std::optional<double> bound = best_bound(experiment, instance, run);
    if (!bound || *bound <= 0) return std::nullopt;
    return bounded_objective(run) / *bound - 1;
  }
  constexpr std::string_view kTimes = "times ";  // "times fwua /result/seconds": as a multiple of another method's
  if (expression.starts_with(kTimes)) {
    const std::string rest = expression.substr(kTimes.size());
    const std::size_t blank = rest.find(' ');
    const MethodPlan* method = experiment.method(rest.substr(0, blank));
    if (method == nullptr || blank == std::string::npos || !Experiment::belongs(instance, *method)) return std::nullopt;
    const Json* other = plan_.finished({&experiment, &instance, method, run["seed"].get<int>()});
    const auto own = number_at(run, rest.substr(blank + 1));
    const auto unit = other == nullptr ? std::nullopt : number_at(*other, rest.substr(blank + 1));
    if (!own || !unit || *unit <= 0) return std::nullopt;
    return *own / *unit;
  }
  return quotient(run, expression);
}

Statistic Results::statistic(const Experiment& experiment, const Case& instance, const MethodPlan& method,
                             const Measure& measure) const {
  Statistic statistic;
  for (const Json* run : finished(experiment, instance, method)) {
    for (const std::string& expression : measure.value) {
      const std::optional<double> one = value(experiment, instance, *run, expression);
      if (!one) continue;
      statistic.values.push_back(*one);
      break;
    }
  }
  return statistic;
}

std::string to_text(double value, const Measure& measure) {
  if (measure.percent) return fmt::format("{:.{}f} %", 100 * value, measure.digits);
  return fmt::format("{:.{}f}", value, measure.digits);
}

std::string to_text(const Statistic& statistic, const Measure& measure) {
  if (statistic.empty()) return {};
  std::string text = to_text(statistic.mean(), measure);
  if (statistic.values.size() > 1) text += " ± " + to_text(statistic.deviation(), measure);
  return text;
}

}  // namespace tracenorm::app
