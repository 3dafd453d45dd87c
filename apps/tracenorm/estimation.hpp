// The course that `complete`, `denoise` and `links` share once they have made a problem from their data.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "estimation_options.hpp"
#include "report/run_report.hpp"

namespace tracenorm::app {

/// A smaller problem to choose radius and penalty on, where no validation entries were given.
struct Choosing {
  Problem problem;
  Entries validation;  ///< in prepared units
};

struct Estimation {
  std::string command;
  Problem problem;
  Preparation preparation;
  Labels rows;
  Labels cols;
  std::string columns;  ///< which columns of the file were taken, in words
  Entries validation;   ///< raw units; empty: none
  /// Judges the solution on what was held out; empty: nothing was.
  std::function<report::HeldOut(const LowRankMatrix&)> test;
  std::vector<report::NamedValue> options;  ///< of this command alone, for the JSON
  std::optional<Choosing> choosing;         ///< only for a radius that is chosen
};

/// Holds a tenth of the observed entries of a full matrix out to choose on, (i,j) and (j,i) of a square one together.
Choosing hold_out(const Problem& problem, std::uint64_t seed);

/// Chooses what is to be chosen, solves, and judges; `cancel` stops early with what there is.
report::RunReport solve_estimation(const EstimationOptions& options, Estimation& estimation,
                                   const std::atomic<bool>* cancel);

/// The answer with everything a prediction needs.
Model make_model(const report::RunReport& report, const Estimation& estimation);

/// The same, then saves the model, writes JSON and summary. Returns the exit code.
int estimate(const EstimationOptions& options, Estimation& estimation);

/// Judges a solution on entries in raw units: errors for numbers, area under the curve for labels.
report::HeldOut judge(const LowRankMatrix& x, const Loss& loss, const Preparation& preparation, const Entries& raw);

/// Reads held-out entries with the names of the training data. Entries whose row or column is not there are left out
/// and counted; an input error when none is left.
struct TestSet {
  Entries entries;
  Offset unknown = 0;
};
TestSet read_held_out(const std::string& path, std::string_view what, const io::NamedEntries& training,
                      const EstimationOptions& options);

}  // namespace tracenorm::app
