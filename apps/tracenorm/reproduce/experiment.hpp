// An experiment as its file declares it (experiments/*.json): cases, methods as commands of this program, what is
// measured, what the paper reports. Nothing here knows a particular experiment.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracenorm::app {

using Json = nlohmann::ordered_json;

/// How a problem is solved: a command of the program with {names} to fill in.
struct MethodPlan {
  std::string name;
  std::string title;
  std::string command;
  int seeds = 0;  ///< at most this many; 0: as many as the experiment
};

/// An instance of the experiment: a size, a noise level, a data set.
struct Case {
  std::string name;
  std::string title;
  Json values;                       ///< what {names} of commands stand for
  std::vector<std::string> methods;  ///< only these; empty: all
  std::string instead_of;            ///< used only where this data set is missing
  int seeds = 0;
};

struct Measure {
  std::string name;
  std::string title;
  std::vector<std::string> value;  ///< where it stands in a run's JSON; the first that is there counts
  int digits = 4;
  enum class Better { none, lower, higher } better = Better::none;
  bool percent = false;
  std::string missing;     ///< what a finished run without this measure says, e.g. never; counts as the worst
  bool chart = false;      ///< also as bars
  bool difference = true;  ///< to the paper's value; seconds on other machines are not compared
};

/// Which method is held against which, and what the paper says about it where it gives no numbers.
struct Comparison {
  std::string method;
  std::vector<std::string> with;
  std::vector<std::string> measures;
  std::string expected;  ///< what the paper says where it gives no numbers; empty: its numbers tell
};

/// Something the paper leaves open, and what was chosen.
struct ProtocolPoint {
  std::string point;
  std::string paper;
  std::string chosen;
};

struct Experiment {
  std::string name;
  std::string title;
  std::vector<std::string> text;
  int seeds = 1;
  Json values;                       ///< for all cases
  std::vector<std::string> prepare;  ///< commands that make the data of a case and a seed
  std::vector<Case> cases;
  std::vector<MethodPlan> methods;
  std::vector<Measure> measures;
  Json paper;  ///< paper[case][method][measure]
  std::vector<Comparison> comparisons;
  std::vector<ProtocolPoint> protocol;
  std::vector<std::string> differences;  ///< why our numbers are not the paper's, with the run that shows it
  std::string truth;                     ///< the file to hold sparsity patterns against; empty: no pictures of these
  std::string scaling;                   ///< a value of the cases to draw measures against; empty: none
  Json component;                        ///< parameters of the figure of component functions; null: none

  /// Whether the case is run with the method.
  [[nodiscard]] static bool belongs(const Case& instance, const MethodPlan& method);
  [[nodiscard]] const MethodPlan* method(std::string_view wanted) const;
  [[nodiscard]] const Case* find_case(std::string_view wanted) const;
  [[nodiscard]] const Measure* measure(std::string_view wanted) const;
  /// What the paper reports, if it does.
  [[nodiscard]] std::optional<double> paper_value(const Case& one, const MethodPlan& method,
                                                  const Measure& measure) const;
};

/// `file` is for messages. With `quick` the member "quick" of the document is merged into it (RFC 7386): fewer cases,
/// smaller sizes.
Experiment parse_experiment(std::string_view text, const std::string& file, bool quick);

}  // namespace tracenorm::app
