// The options that `complete`, `denoise` and `links` share.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "method_options.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/problem.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm::app {

struct EstimationOptions {
  std::string data;
  io::ReadOptions read;

  double radius = 0;
  Loss loss;
  double l1 = 0;
  std::optional<Preparation::Kind> prepare;

  MethodOptions method;
  RunOptions run;

  std::string json;
  std::string model;
  bool quiet = false;
};

/// Adds them all, in groups. `data_name` is the positional argument; `options.loss` is the command's default loss.
void add_estimation_options(CLI::App& app, EstimationOptions& options, const std::string& data_name,
                            const std::string& data_help);

/// What can be found wrong before any data are read: options that do not go together, outputs that cannot be written.
void check_before_reading(const EstimationOptions& options, const std::vector<std::string>& inputs);

/// The penalty that --l1 asks for: none when it is 0.
Penalty l1_penalty(const EstimationOptions& options);

/// Whether the loss is for labels -1 and +1 rather than for numbers.
bool wants_labels(const Loss& loss);

}  // namespace tracenorm::app
