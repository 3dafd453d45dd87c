// The course that `complete`, `denoise` and `links` share once they have made a problem from their data.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "estimation_options.hpp"
#include "report/run_report.hpp"

namespace tracenorm::app {

struct Estimation {
  std::string command;
  Problem problem;
  Preparation preparation;
  Labels rows;
  Labels cols;
  Entries validation;  ///< raw units; empty: none
  /// Judges the solution on what was held out; empty: nothing was.
  std::function<report::HeldOut(const LowRankMatrix&)> test;
  std::vector<report::NamedValue> options;  ///< of this command alone, for the JSON
};

/// Solves, saves the model, writes JSON and summary; Ctrl-C stops the solving early. Returns the exit code.
int estimate(const EstimationOptions& options, const Estimation& estimation);

/// Judges a solution on entries in raw units: errors for numbers, area under the curve for labels.
report::HeldOut judge(const LowRankMatrix& x, const Loss& loss, const Preparation& preparation, const Entries& raw);

/// Reads held-out entries with the names of the training data. Entries whose row or column is not there are left out
/// and counted; an input error when none is left.
struct TestSet {
  Entries entries;
  Offset unknown = 0;
};
TestSet read_test(const std::string& path, const Estimation& training, const EstimationOptions& options);

}  // namespace tracenorm::app
