// From the declaration of an experiment to commands: which runs there are, what each of them needs, what it is called
// in the log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data_sets.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/run_log.hpp"

namespace tracenorm::app {

struct PlannedRun {
  const Experiment* experiment;
  const Case* instance;
  const MethodPlan* method;
  int seed;
};

/// A run whose blanks are filled in.
struct ResolvedRun {
  std::string key;                 ///< everything that determines the result
  std::vector<std::string> words;  ///< the command
  std::string command;             ///< the same for people: DATA and WORK stand for the folders
  std::vector<std::vector<std::string>> prepare;
  std::vector<std::string> prepare_commands;
  std::string truth;
};

struct PlanOptions {
  std::optional<int> seeds;          ///< for every method; empty: as declared
  std::vector<std::string> methods;  ///< only these, and those they need; empty: all
};

class Plan {
 public:
  Plan(const DataFolder& data, std::string work, const RunLog& log, PlanOptions options)
      : data_(data), work_(std::move(work)), log_(log), options_(std::move(options)) {}

  /// All runs of an experiment whose data are there. The seed changes last, so that an interrupted reproduction has a
  /// little of everything.
  [[nodiscard]] std::vector<PlannedRun> runs(const Experiment& experiment) const;
  /// The cases whose data are there, a stand-in only where what it stands for is missing.
  [[nodiscard]] std::vector<const Case*> cases(const Experiment& experiment) const;
  /// The data sets that an experiment could use and that are not there.
  [[nodiscard]] std::vector<const DataSet*> missing(const Experiment& experiment) const;
  [[nodiscard]] int seeds(const Experiment& experiment, const Case& instance, const MethodPlan& method) const;

  /// Nothing when a run that it takes a number from is not finished. An input error when a {name} is unknown.
  [[nodiscard]] std::optional<ResolvedRun> resolve(const PlannedRun& run) const;
  /// The finished run; null when there is none.
  [[nodiscard]] const Json* finished(const PlannedRun& run) const;

 private:
  struct Names;

  [[nodiscard]] bool has_data(const Experiment& experiment, const Case& instance) const;
  [[nodiscard]] bool wanted(const Experiment& experiment, const MethodPlan& method) const;

  const DataFolder& data_;
  std::string work_;
  const RunLog& log_;
  PlanOptions options_;
};

}  // namespace tracenorm::app
