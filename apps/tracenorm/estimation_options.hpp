// The options that `complete`, `denoise`, `covariance` and `links` share.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "method_options.hpp"
#include "outputs.hpp"
#include "run_checkpoint.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/fit.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

struct EstimationOptions {
  std::string data;  ///< a file, or words for several
  io::ReadOptions read;

  FitOptions fit;  ///< its method is made of what `method` was given
  MethodOptions method;

  std::string json;
  std::string model;
  int model_parts = 0;  ///< 0: a file
  std::string certificate;
  std::string report;  ///< an HTML page; empty: none
  std::string output;  ///< the whole matrix; empty: not wanted
  CheckpointSettings checkpoint;
  bool quiet = false;
};

/// What commands say that do not leave the model to be chosen: this loss, the data as they are, the plain trace norm.
void set_defaults(FitOptions& options, const Loss& loss);

/// Adds them all, in groups. `data_name` is the positional argument.
void add_estimation_options(CLI::App& app, EstimationOptions& options, const std::string& data_name,
                            const std::string& data_help);
/// All but the positional argument.
void add_estimation_options(CLI::App& app, EstimationOptions& options);

/// --clip and --no-clip; `otherwise` says what holds without them.
void add_clip_options(CLI::App& app, FitOptions& options, const std::string& otherwise);

/// The end of a command's help: its examples and remarks, and the exit codes.
std::string footer(std::string_view remarks);

/// An input error when the whole matrix, if it is wanted, would be too large a file: better before the work than after.
void check_output_size(const EstimationOptions& options, Index rows, Index cols);

/// Makes every choice that needs no data, and finds what can be found wrong before any are read: options that do not go
/// together, outputs that cannot be written, a command's own ones among them.
void settle(EstimationOptions& options, const std::vector<std::string>& inputs, const OutputPaths& further = {});

}  // namespace tracenorm::app
