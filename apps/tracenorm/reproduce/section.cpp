#include "reproduce/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace tracenorm::app {

namespace {

/// Beyond this, a difference to the paper is to be explained.
constexpr double kNotable = 0.03;

bool has_paper_values(const Experiment& experiment, const Measure& measure) {
  for (const Case& one : experiment.cases) {
    for (const MethodPlan& method : experiment.methods) {
      if (experiment.paper_value(one, method, measure)) return true;
    }
  }
  return false;
}

/// Ours relative to the paper's.
Cell difference_cell(double ours, double paper, const Measure& measure) {
  const double share = ours / paper - 1;
  Cell cell{fmt::format("{:+.1f} %", 100 * share)};
  if (std::abs(share) <= kNotable || measure.better == Measure::Better::none) return cell;
  const bool better = (share > 0) == (measure.better == Measure::Better::higher);
  cell.mood = better ? Cell::Mood::good : Cell::Mood::bad;
  return cell;
}

void add_measure(std::vector<Cell>& row, const Statistic& statistic, const Measure& measure, bool finished,
                 bool with_paper, const std::optional<double>& paper) {
  row.push_back({statistic.empty() && finished ? measure.missing : to_text(statistic, measure)});
  if (!with_paper) return;
  row.push_back(paper ? Cell{to_text(*paper, measure), Cell::Mood::faint} : Cell{});
  if (!measure.difference) return;
  row.push_back(paper && !statistic.empty() ? difference_cell(statistic.mean(), *paper, measure) : Cell{});
}

std::vector<std::string> columns(const Experiment& experiment) {
  std::vector<std::string> names{"case", "method", "seeds"};
  for (const Measure& measure : experiment.measures) {
    names.push_back(measure.title);
    if (!has_paper_values(experiment, measure)) continue;
    names.emplace_back("paper");
    if (measure.difference) names.emplace_back("difference");
  }
  return names;
}

/// The command of the first seed that is finished; others differ in the seed (and in what depends on it).
Block commands_block(const Experiment& experiment, const Results& results) {
  Details details{experiment.name + "-commands", "The commands of the first seed", ""};
  for (const Case* instance : results.plan().cases(experiment)) {
    std::vector<std::string> prepared;
    for (const MethodPlan& method : experiment.methods) {
      const auto runs = results.finished(experiment, *instance, method);
      if (runs.empty() || !Experiment::belongs(*instance, method)) continue;
      const Json& run = *runs.front();
      const auto prepare = run["prepare"].get<std::vector<std::string>>();
      if (prepare != prepared) {
        for (const std::string& command : prepare) details.text += command + "\n";
        prepared = prepare;
      }
      details.text += run["command"].get<std::string>() + "\n";
    }
  }
  return details;
}

Table protocol_table(const Experiment& experiment) {
  Table table{experiment.name + "-protocol",
              "What the paper leaves open, and what was chosen here.",
              {"point", "the paper", "here"},
              {},
              3};
  for (const ProtocolPoint& point : experiment.protocol) {
    table.rows.push_back({{point.point}, {point.paper}, {point.chosen}});
  }
  return table;
}

}  // namespace

std::string to_id(const std::string& text) {
  std::string id;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!plain && !id.empty() && id.back() != '-') id += '-';
  }
  while (id.ends_with('-')) id.pop_back();
  return id;
}

Table results_table(const Experiment& experiment, const Results& results) {
  Table table{
      experiment.name + "-results",
      "Mean ± standard deviation over the seeds. Where the paper has a value, ours minus the paper's in percent "
      "of it; differences beyond 3 % are coloured.",
      columns(experiment),
      {},
      2};
  for (const Case* instance : results.plan().cases(experiment)) {
    bool first = true;
    for (const MethodPlan& method : experiment.methods) {
      if (!Experiment::belongs(*instance, method)) continue;
      const std::size_t seeds = results.finished(experiment, *instance, method).size();
      std::vector<Cell> row{
          {first ? instance->title : ""}, {method.title}, {seeds > 0 ? std::to_string(seeds) : "not run"}};
      if (seeds == 0) row.back().mood = Cell::Mood::faint;
      for (const Measure& measure : experiment.measures) {
        add_measure(row, results.statistic(experiment, *instance, method, measure), measure, seeds > 0,
                    has_paper_values(experiment, measure), experiment.paper_value(*instance, method, measure));
      }
      table.rows.push_back(std::move(row));
      first = false;
    }
  }
  return table;
}

std::vector<Block> experiment_section(const Experiment& experiment, const Results& results) {
  std::vector<Block> blocks{Heading{experiment.name, experiment.title}};
  for (const std::string& text : experiment.text) blocks.push_back(Paragraph{text});
  for (const DataSet* data : results.plan().missing(experiment)) {
    const std::string how =
        data->url.empty() ? fmt::format("it cannot be fetched; put {} into the data folder", data->files.front())
                          : fmt::format("`tracenorm fetch {} --data DIR` gets it from {}", data->name, data->publisher);
    blocks.push_back(Paragraph{fmt::format("Missing: {}; {}.", data->title, how), true});
  }
  if (!experiment.component.is_null()) blocks.push_back(component_functions(experiment.component));
  const Table table = results_table(experiment, results);
  if (!table.rows.empty()) {
    blocks.push_back(table);
    add_charts(experiment, results, blocks);
  }
  if (!table.rows.empty() && !experiment.differences.empty()) {
    blocks.push_back(Heading{experiment.name + "-differences", "Where our numbers differ from the paper's", 3});
    for (const std::string& text : experiment.differences) blocks.push_back(Paragraph{text});
  }
  if (!experiment.protocol.empty()) {
    blocks.push_back(Heading{experiment.name + "-points", "Protocol", 3});
    blocks.push_back(protocol_table(experiment));
  }
  if (!table.rows.empty()) blocks.push_back(commands_block(experiment, results));
  return blocks;
}

}  // namespace tracenorm::app
