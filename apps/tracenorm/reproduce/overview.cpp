#include "reproduce/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reproduce/section.hpp"
#include "tracenorm/version.hpp"

namespace tracenorm::app {

namespace {

std::vector<const Json*> all_runs(const std::vector<const Experiment*>& experiments, const Results& results) {
  std::vector<const Json*> all;
  std::set<const Json*> seen;  // experiments may share runs
  for (const Experiment* experiment : experiments) {
    for (const PlannedRun& run : results.plan().runs(*experiment)) {
      const Json* finished = results.plan().finished(run);
      if (finished != nullptr && seen.insert(finished).second) all.push_back(finished);
    }
  }
  return all;
}

std::string joined(const std::set<std::string>& words) { return fmt::format("{}", fmt::join(words, "; ")); }

Table facts(const std::vector<const Experiment*>& experiments, const Results& results, const Session& session) {
  std::size_t planned = 0;
  for (const Experiment* experiment : experiments) planned += results.plan().runs(*experiment).size();
  std::set<std::string> machines;
  std::set<std::string> builds;
  std::set<std::string> dates;
  double seconds = 0;
  std::size_t finished = 0;
  for (const Experiment* experiment : experiments) {
    for (const PlannedRun& run : results.plan().runs(*experiment)) {
      if (results.plan().finished(run) != nullptr) ++finished;
    }
  }
  for (const Json* run : all_runs(experiments, results)) {
    const Json& environment = (*run)["result"]["environment"];
    machines.insert((*run)["machine"].get<std::string>());
    builds.insert(fmt::format("version {}, {}, {}, {} threads", environment["version"].get<std::string>(),
                              environment["compiler"].get<std::string>(),
                              environment["instruction_set"].get<std::string>(), environment["threads"].get<int>()));
    dates.insert((*run)["date"].get<std::string>());
    seconds += (*run)["result"]["seconds"].get<double>();
  }
  Table table{"facts", "", {"", ""}, {}, 2};
  const auto add = [&](const char* name, const std::string& value) {
    table.rows.push_back({{name, Cell::Mood::faint}, {value}});
  };
  add("command", "`" + session.command + "`");
  add("runs", fmt::format("{} of {} finished, {:.0f} seconds in all", finished, planned, seconds));
  if (!dates.empty()) {
    add("run on", *dates.begin() == *dates.rbegin() ? *dates.begin() + " UTC"
                                                    : fmt::format("{} to {} UTC", *dates.begin(), *dates.rbegin()));
  }
  add("machine", joined(machines));
  add("program", builds.empty() ? fmt::format("version {}", TRACENORM_VERSION) : joined(builds));
  add("raw results", "`runs.jsonl` beside this page, one finished run a line; tables alone in `results.md`");
  return table;
}

/// A section is left out when nobody asked for it and nothing of it is there.
bool has_results(const Experiment& experiment, const Results& results) {
  const auto runs = results.plan().runs(experiment);
  return std::any_of(runs.begin(), runs.end(),
                     [&](const PlannedRun& run) { return results.plan().finished(run) != nullptr; });
}

}  // namespace

Page reproduction_page(const std::vector<const Experiment*>& experiments, const Results& results,
                       const Session& session) {
  Page page;
  page.title = "The experiments of FWUA, again";
  page.subtitle =
      "E. Cheung and Y. Li, Solving separable nonsmooth problems using Frank-Wolfe with uniform affine approximations "
      "(IJCAI "
      "2018, arXiv 1710.05776), run with tracenorm next to the numbers that the paper reports.";
  page.blocks.push_back(Heading{"overview", "Overview"});
  page.blocks.push_back(facts(experiments, results, session));
  if (session.quick) {
    page.blocks.push_back(
        Paragraph{"This is a quick run: sizes, iterations and seeds are cut down, so the numbers show "
                  "that everything works and cannot be held against the paper's.",
                  true});
  }
  for (const std::string& failure : session.failures) page.blocks.push_back(Paragraph{"Failed: " + failure, true});
  Table comparisons = comparison_table();
  for (const Experiment* experiment : experiments) add_comparisons(*experiment, results, comparisons);
  if (!comparisons.rows.empty()) {
    page.blocks.push_back(Heading{"directions", "Does the paper's order hold?"});
    page.blocks.push_back(Paragraph{
        "Seconds are those of one machine and one implementation each: the paper's order of speed is that of other "
        "programs on another machine."});
    page.blocks.push_back(std::move(comparisons));
  }
  for (const Experiment* experiment : experiments) {
    std::vector<Block> section = experiment_section(*experiment, results);
    page.blocks.insert(page.blocks.end(), section.begin(), section.end());
    if (!has_results(*experiment, results)) {
      page.blocks.push_back(Paragraph{
          fmt::format("No runs of this experiment yet: `tracenorm reproduce {} --resume`.", experiment->name), true});
    }
  }
  return page;
}

}  // namespace tracenorm::app
