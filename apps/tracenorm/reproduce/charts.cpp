#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "page/encoding.hpp"
#include "reproduce/section.hpp"

namespace tracenorm::app {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<double> column(const Json& run, const char* name) {
  std::vector<double> values;
  const Json& trace = run["result"]["trace"];
  if (!trace.contains(name)) return values;
  for (const Json& value : trace[name]) values.push_back(value.is_number() ? value.get<double>() : kNone);
  return values;
}

bool is_penalised(const Json& run) { return run["result"].contains("objective_without_trace_penalty"); }

std::vector<double> excess(const std::vector<double>& objective, const std::optional<double>& bound) {
  std::vector<double> values;
  values.reserve(objective.size());
  for (const double value : objective) values.push_back(bound && *bound > 0 ? 100 * (value / *bound - 1) : kNone);
  return values;
}

/// The iterates of a penalised method are not feasible; only its answer can be compared, as a level.
Series level(const std::string& title, const Json& run, const std::optional<double>& bound, double last_k,
             double last_second) {
  const double objective = bounded_objective(run);
  const std::vector<double> both(2, objective);
  const double seconds = run["result"]["seconds"];
  return {title + " (its answer)",
          {{1, last_k}, {std::min(seconds, last_second), std::max(seconds, last_second)}},
          {both, excess(both, bound), {kNone, kNone}},
          Series::Style::dashed};
}

/// The first finished seed of every method; nothing to draw gives no series.
Chart convergence(const Experiment& experiment, const Case& instance, const Results& results) {
  Chart chart{fmt::format("{}-{}-convergence", experiment.name, to_id(instance.name)),
              fmt::format("{}: convergence with the first seed. The excess is over the best lower bound that any of "
                          "these runs certified. Drag to zoom, double click to undo.",
                          instance.title),
              {"iterations", "seconds"},
              {"objective", "excess over the best bound, %", "validation RMSE, prepared units"},
              {},
              true,
              false};
  double last_k = 1;
  double last_second = 0;
  bool validated = false;
  bool any = false;
  std::vector<std::pair<const MethodPlan*, const Json*>> runs;
  for (const MethodPlan& method : experiment.methods) {
    const auto finished = results.finished(experiment, instance, method);
    if (finished.empty()) continue;
    runs.emplace_back(&method, finished.front());
    const Json& run = *finished.front();
    if (is_penalised(run) || column(run, "k").empty()) continue;
    any = true;
    last_k = std::max(last_k, column(run, "k").back() + 1);
    last_second = std::max(last_second, column(run, "seconds").back());
    validated = validated || !column(run, "validation_rmse").empty();
  }
  if (!any) return chart;
  for (const auto& [method, run] : runs) {  // in the order of the methods: each keeps its colour from chart to chart
    const std::optional<double> bound = results.best_bound(experiment, instance, *run);
    if (is_penalised(*run)) {
      chart.series.push_back(level(method->title, *run, bound, last_k, last_second));
      continue;
    }
    std::vector<double> k = column(*run, "k");
    for (double& value : k) ++value;  // a logarithmic axis has no zero
    const std::vector<double> objective = column(*run, "objective");
    chart.series.push_back({method->title,
                            {k, column(*run, "seconds")},
                            {objective, excess(objective, bound), column(*run, "validation_rmse")},
                            Series::Style::line});
  }
  if (!validated) {
    chart.ordinates.pop_back();
    for (Series& series : chart.series) series.y.pop_back();
    // The first steps overshoot by orders of magnitude: only the excess on a logarithmic axis shows the rest.
    std::rotate(chart.ordinates.begin(), chart.ordinates.begin() + 1, chart.ordinates.end());
    for (Series& series : chart.series) std::rotate(series.y.begin(), series.y.begin() + 1, series.y.end());
    chart.log_y = true;
  } else {  // where there are validation entries, these decide
    std::rotate(chart.ordinates.begin(), chart.ordinates.begin() + 2, chart.ordinates.end());
    for (Series& series : chart.series) std::rotate(series.y.begin(), series.y.begin() + 2, series.y.end());
  }
  return chart;
}

BarChart bars(const Experiment& experiment, const Case& instance, const Measure& measure, const Results& results) {
  BarChart chart{fmt::format("{}-{}-{}", experiment.name, to_id(instance.name), to_id(measure.name)),
                 fmt::format("{}: {}.", instance.title, measure.title),
                 measure.title,
                 {},
                 {{"here", {}}, {"the paper", {}}}};
  bool paper = false;
  for (const MethodPlan& method : experiment.methods) {
    const Statistic statistic = results.statistic(experiment, instance, method, measure);
    const auto printed = experiment.paper_value(instance, method, measure);
    if (statistic.empty() && !printed) continue;
    chart.categories.push_back(method.title);
    chart.series[0].values.push_back(statistic.empty() ? kNone : statistic.mean());
    chart.series[1].values.push_back(printed.value_or(kNone));
    paper = paper || printed;
  }
  if (!paper) chart.series.pop_back();
  return chart;
}

/// Measures against the size, one line a method.
Chart scaling(const Experiment& experiment, const Results& results) {
  Chart chart{experiment.name + "-scaling",
              fmt::format("Measures against {}, means over the seeds.", experiment.scaling),
              {experiment.scaling},
              {},
              {},
              false,
              false};
  for (const Measure& measure : experiment.measures) chart.ordinates.push_back(measure.title);
  for (const MethodPlan& method : experiment.methods) {
    Series series{
        method.title, {{}}, std::vector<std::vector<double>>(experiment.measures.size()), Series::Style::line};
    for (const Case* instance : results.plan().cases(experiment)) {
      if (!instance->methods.empty() || results.finished(experiment, *instance, method).empty()) continue;
      series.x[0].push_back(instance->values[experiment.scaling].get<double>());
      for (std::size_t m = 0; m < experiment.measures.size(); ++m) {
        const Measure& measure = experiment.measures[m];
        const Statistic statistic = results.statistic(experiment, *instance, method, measure);
        series.y[m].push_back(statistic.empty() ? kNone : (measure.percent ? 100 : 1) * statistic.mean());
      }
    }
    if (!series.x[0].empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

Gallery patterns(const Experiment& experiment, const Case& instance, const Results& results) {
  Gallery gallery{
      fmt::format("{}-{}-patterns", experiment.name, to_id(instance.name)),
      fmt::format("{}: where the matrices are nonzero (above a hundredth of the largest entry), first seed. "
                  "The darker, the more of a cell's entries.",
                  instance.title),
      {}};
  for (const MethodPlan& method : experiment.methods) {
    const auto runs = results.finished(experiment, instance, method);
    if (runs.empty() || !runs.front()->contains("pattern")) continue;
    const Json& pattern = (*runs.front())["pattern"];
    if (!pattern.contains("picture")) continue;
    if (gallery.pictures.empty())
      gallery.pictures.push_back({"truth", from_base64(pattern["truth"].get<std::string>())});
    gallery.pictures.push_back(
        {fmt::format("{}: {:.1f} % nonzero", method.title, 100 * pattern["nonzero"].get<double>()),
         from_base64(pattern["picture"].get<std::string>())});
  }
  return gallery;
}

}  // namespace

void add_charts(const Experiment& experiment, const Results& results, std::vector<Block>& blocks) {
  if (!experiment.scaling.empty()) {
    Chart chart = scaling(experiment, results);
    if (!chart.series.empty()) blocks.push_back(std::move(chart));
  }
  for (const Case* instance : results.plan().cases(experiment)) {
    for (const Measure& measure : experiment.measures) {
      if (!measure.chart) continue;
      BarChart chart = bars(experiment, *instance, measure, results);
      if (!chart.categories.empty()) blocks.push_back(std::move(chart));
    }
    Chart chart = convergence(experiment, *instance, results);
    if (!chart.series.empty()) blocks.push_back(std::move(chart));
    if (experiment.truth.empty()) continue;
    Gallery gallery = patterns(experiment, *instance, results);
    if (!gallery.pictures.empty()) blocks.push_back(std::move(gallery));
  }
}

Chart component_functions(const Json& parameters) {
  Chart chart{"component-functions",
              "The function |x| and what the method sees of it with the widths 2/(k+2): chord slopes, integrated "
              "(x^2/2w + w/2 for |x| < w, else |x|).",
              {"x"},
              {"value", "chord slope"},
              {},
              false,
              false};
  constexpr int kPoints = 241;
  const double range = parameters.at("range");
  Series exact{"|x|", {{}}, {{}, {}}, Series::Style::dashed};
  std::vector<Series> smoothed;
  for (const int k : parameters.at("iterations").get<std::vector<int>>()) {
    smoothed.push_back({fmt::format("k = {}, width {:.3g}", k, 2.0 / (k + 2)), {{}}, {{}, {}}, Series::Style::line});
  }
  for (int p = 0; p < kPoints; ++p) {
    const double x = range * (2.0 * p / (kPoints - 1) - 1);
    exact.x[0].push_back(x);
    exact.y[0].push_back(std::abs(x));
    exact.y[1].push_back(x > 0 ? 1 : x < 0 ? -1 : 0);
    std::size_t at = 0;
    for (const int k : parameters.at("iterations").get<std::vector<int>>()) {
      const double width = 2.0 / (k + 2);
      Series& series = smoothed[at++];
      series.x[0].push_back(x);
      series.y[0].push_back(std::abs(x) < width ? x * x / (2 * width) + width / 2 : std::abs(x));
      series.y[1].push_back(std::clamp(x / width, -1.0, 1.0));
    }
  }
  chart.series = std::move(smoothed);
  chart.series.push_back(std::move(exact));
  return chart;
}

}  // namespace tracenorm::app
