// The options that `complete`, `denoise` and `links` share.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "method_options.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/problem.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm::app {

/// The trace keeps a record of each iteration: more than this would fill the memory of a usual machine.
inline constexpr int kMaxIterations = 10'000'000;

struct EstimationOptions {
  std::string data;
  io::ReadOptions read;

  std::optional<double> radius;  ///< empty: chosen on held-out entries, by methods with a bound
  NormWeights norm_weights;
  bool norm_power_given = false;
  Loss loss;
  bool loss_given = false;
  double l1 = 0;
  bool chooses_l1 = false;  ///< --l1 auto
  std::optional<Preparation::Kind> prepare;

  MethodOptions method;
  RunOptions run;

  std::string json;
  std::string model;
  std::string report;  ///< an HTML page; empty: none
  bool quiet = false;

  /// Whether the radius is to be chosen: the method has one, and none was given.
  [[nodiscard]] bool chooses_radius() const { return !radius && is_bounded(method.make(run.gap.has_value())); }
};

/// Adds them all, in groups. `data_name` is the positional argument; `options.loss` is the command's default loss.
void add_estimation_options(CLI::App& app, EstimationOptions& options, const std::string& data_name,
                            const std::string& data_help);

/// The end of a command's help: its examples and remarks, and the exit codes.
std::string footer(std::string_view remarks);

/// What can be found wrong before any data are read: options that do not go together, outputs that cannot be written.
void check_before_reading(const EstimationOptions& options, const std::vector<std::string>& inputs);

/// The ball that --radius and --norm-power ask for; any ball for methods that do not look at it.
Constraint constraint(const EstimationOptions& options, const Observations& observations);

/// The penalty that --l1 asks for: none when it is 0.
Penalty l1_penalty(const EstimationOptions& options);

/// Whether the loss is for labels -1 and +1 rather than for numbers.
bool wants_labels(const Loss& loss);

}  // namespace tracenorm::app
