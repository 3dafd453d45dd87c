#include "page/run_page.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "page/page.hpp"
#include "page/residuals.hpp"
#include "page/thinning.hpp"

namespace tracenorm::app {

namespace {

constexpr std::size_t kLargest = 15;
/// A curve of more points than a screen has is only slower.
constexpr std::size_t kPoints = 1000;

std::string plain(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "none"; }

/// The summary of the program, line by line: what a person would have read on the terminal.
Table summary_table(const report::RunReport& report) {
  Table table{"summary", "The run in short.", {"", ""}, {}, 2};
  const std::string text = report::to_text(report);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    constexpr std::size_t kLabel = 19;                           // the width that to_text gives its labels
    if (begin >= text.size() || line.size() < kLabel) continue;  // the last line is the certificate, said elsewhere
    std::string label = line.substr(0, kLabel);
    label.erase(label.find_last_not_of(' ') + 1);
    table.rows.push_back({{label, Cell::Mood::faint}, {line.substr(kLabel)}});
  }
  return table;
}

Chart convergence(const report::RunReport& report) {
  Chart chart{
      "convergence",
      "Objective, and the certified lower bound of the optimum: the answer lies between the two curves. Drag to "
      "zoom, double click to undo.",
      {"iterations", "seconds"},
      {"objective", "certified relative gap"},
      {},
      true,
      false};
  Series objective{"objective", {{}, {}}, {{}, {}}, Series::Style::line};
  Series bound{"certified lower bound", {{}, {}}, {{}, {}}, Series::Style::dashed};
  for (const std::size_t place : thinned(report.result.trace.size(), kPoints)) {
    const Iteration& iteration = report.result.trace[place];
    for (Series* series : {&objective, &bound}) {
      series->x[0].push_back(iteration.k + 1);
      series->x[1].push_back(iteration.seconds);
    }
    objective.y[0].push_back(iteration.objective);
    objective.y[1].push_back(iteration.relative_gap);
    bound.y[0].push_back(iteration.lower_bound);
    bound.y[1].push_back(std::numeric_limits<double>::quiet_NaN());
  }
  objective.name = "objective (or gap)";
  chart.series = {objective, bound};
  return chart;
}

/// Rank and width, and the validation error where there is one.
Chart progress(const report::RunReport& report) {
  Chart chart{"progress",
              "What else changed from iteration to iteration.",
              {"iterations", "seconds"},
              {"rank", "width"},
              {},
              true,
              false};
  Series series{"iterate", {{}, {}}, {{}, {}, {}}, Series::Style::line};
  bool validated = false;
  for (const std::size_t place : thinned(report.result.trace.size(), kPoints)) {
    const Iteration& iteration = report.result.trace[place];
    series.x[0].push_back(iteration.k + 1);
    series.x[1].push_back(iteration.seconds);
    series.y[0].push_back(iteration.rank);
    series.y[1].push_back(iteration.width);
    series.y[2].push_back(iteration.validation_rmse);
    validated = validated || !std::isnan(iteration.validation_rmse);
  }
  if (validated) {
    chart.ordinates.insert(chart.ordinates.begin(), "validation RMSE, prepared units");
    std::rotate(series.y.begin(), series.y.begin() + 2, series.y.end());
  } else {
    series.y.pop_back();
  }
  chart.series = {series};
  return chart;
}

Chart singular_values(const LowRankMatrix& x) {
  Series series{"singular values", {{}}, {{}}, Series::Style::points};
  for (Index t = 0; t < x.terms(); ++t) {
    series.x[0].push_back(t + 1);
    series.y[0].push_back(x.values()(t));
  }
  return {
      "singular-values", fmt::format("The {} singular values of the answer, in the units it was solved in.", x.terms()),
      {"number"},        {"singular value"},
      {series},          false,
      x.terms() > 10};
}

Table errors_table(const report::RunReport& report) {
  Table table{"errors",
              "On entries that the fit has not seen.",
              {"part", "entries", "RMSE", "MAE", "RMSE, prepared units", "MAE, prepared units", "AUC"},
              {},
              1};
  const auto add = [&](const char* name, const std::optional<report::HeldOut>& part) {
    if (!part) return;
    const auto cell = [](const std::optional<double>& value) -> Cell {
      return value ? Cell{std::isnan(*value) ? "undefined" : fmt::format("{:.4f}", *value)} : Cell{""};
    };
    table.rows.push_back({{name},
                          {std::to_string(part->entries)},
                          cell(part->rmse),
                          cell(part->mae),
                          cell(part->rmse_prepared),
                          cell(part->mae_prepared),
                          cell(part->auc)});
  };
  add("validation", report.validation);
  add("test", report.test);
  return table;
}

void add_residuals(Page& page, const report::RunReport& report, const Estimation& estimation) {
  const Residuals rest = residuals(*report.problem, estimation.preparation, report.result.solution, kLargest);
  page.blocks.push_back(Heading{"residuals", "Residuals"});
  page.blocks.push_back(Paragraph{fmt::format(
      "Observed minus fitted, for the {} entries of the fit, in the units of the data: median {:.4g}, spread {:.4g} "
      "(1.4826 times the median distance from it). {} entries are more than five spreads away: gross outliers, if "
      "there are any, are among these.",
      rest.entries, rest.median, rest.spread, rest.far)});
  page.blocks.push_back(Chart{"residual-distribution",
                              "How the residuals are distributed. On the logarithmic axis single outliers show.",
                              {"residual"},
                              {"entries"},
                              {{"entries", {rest.histogram.middle}, {rest.histogram.count}, Series::Style::steps}},
                              false,
                              true});
  Table table{
      "largest-residuals", "The entries that fit worst.", {"row", "column", "observed", "fitted", "residual"}, {}, 2};
  for (const Residual& one : rest.largest) {
    table.rows.push_back({{estimation.rows.name(one.row)},
                          {estimation.cols.name(one.col)},
                          {plain(one.observed)},
                          {plain(one.predicted)},
                          {plain(one.value())}});
  }
  page.blocks.push_back(std::move(table));
}

/// Every option of the run, as the JSON has it.
Table options_table(const report::RunReport& report) {
  Table table{"options", "Every option, given or not.", {"option", "value"}, {}, 2};
  const auto json = nlohmann::ordered_json::parse(report::to_json(report));
  for (const auto& [name, value] : json["options"].items()) {
    table.rows.push_back({{name}, {value.is_string() ? value.get<std::string>() : value.dump()}});
  }
  for (const auto& [name, value] : json["environment"].items()) {
    table.rows.push_back({{name, Cell::Mood::faint}, {value.is_string() ? value.get<std::string>() : value.dump()}});
  }
  return table;
}

}  // namespace

std::string run_page(const report::RunReport& report, const Estimation& estimation) {
  Page page;
  page.title = fmt::format("tracenorm {}: {}", report.command, report.data);
  page.subtitle = report::certificate_sentence(report);
  page.blocks.push_back(Heading{"run", "The run"});
  page.blocks.push_back(summary_table(report));
  if (report.validation || report.test) page.blocks.push_back(errors_table(report));
  page.blocks.push_back(Heading{"convergence-section", "Convergence"});
  page.blocks.push_back(convergence(report));
  page.blocks.push_back(progress(report));
  page.blocks.push_back(Heading{"answer", "The answer"});
  page.blocks.push_back(singular_values(report.result.solution));
  add_residuals(page, report, estimation);
  page.blocks.push_back(Heading{"options-section", "Options and machine"});
  page.blocks.push_back(options_table(report));
  return to_html(page);
}

}  // namespace tracenorm::app
