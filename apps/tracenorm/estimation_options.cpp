#include "estimation_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/execution.hpp"
#include "base/topic.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"
#include "reading_options.hpp"

namespace tracenorm::app {

namespace {

std::string loss_list() {
  std::vector<std::string_view> names;
  for (const LossHelp& help : loss_help()) names.push_back(help.name);
  std::string text = fmt::format("what a deviation costs: {}", fmt::join(names, ", "));
  for (const LossHelp& help : loss_help()) {
    text += fmt::format("\n{}: for {}", help.name, help.wants);
    if (!help.parameter.empty())
      text += fmt::format("; X is the {} ({:g}), {}", help.parameter, help.default_value, help.help);
  }
  return text;
}

bool is_unbounded(const Method& method) { return !is_bounded(method); }

constexpr std::string_view kL1Wants = "a number that is 0 or more, or auto";

void parse_l1(FitOptions& options, const std::string& text) {
  options.choose_l1 = text == "auto";
  const double lambda = options.choose_l1 ? 0 : to_number("--l1", text, {0, 1e300, kL1Wants});
  options.penalty = lambda > 0 ? Penalty(L1Penalty{lambda}) : Penalty(NoPenalty{});
}

void add_input_options(CLI::App& app, EstimationOptions& options) {
  add_reading_options(app, options.read);
  app.add_option_function<std::string>(
         "--prepare",
         [&options](const std::string& text) {
           options.fit.prepare = parse_for("--prepare", [&] { return parse_preparation(text); });
         },
         "change of units before solving, undone in predictions")
      ->type_name("none|center|zscore|rows|columns|both")
      ->default_str(to_string(options.fit.prepare.value_or(Preparation::Kind::none)))
      ->group("Data");
}

void add_objective_options(CLI::App& app, FitOptions& options) {
  app.add_option_function<std::string>(
         "--radius",
         [&options](const std::string& text) {
           set_option(options, "radius", text == "auto" ? OptionValue{} : parse_value(text));
         },
         fmt::format("bound on the trace norm (the sum of singular values) of the answer; auto: a path of radii is "
                     "tried on held-out entries. {} have none",
                     methods_where(is_unbounded)))
      ->type_name("R|auto")
      ->default_str("auto")
      ->group("Objective");
  add_fields(app, options, {"norm_power", "norm_smoothing"}, "Objective");
  app.add_option_function<std::string>(
         "--loss",
         [&options](const std::string& text) { options.loss = parse_for("--loss", [&] { return parse_loss(text); }); },
         loss_list())
      ->type_name("NAME[:X]")
      ->default_str(to_string(options.loss.value_or(Loss{})))
      ->group("Objective");
  app.add_option_function<std::string>(
         "--l1", [&options](const std::string& text) { parse_l1(options, text); },
         "penalty on the absolute value of every entry: makes it sparse; auto: several are tried on held-out entries")
      ->type_name("X|auto")
      ->default_str(options.choose_l1 ? "auto" : "0")
      ->group("Objective");
}

void add_output_options(CLI::App& app, EstimationOptions& options) {
  app.add_option(
         "--output", options.output,
         "write the whole matrix, every entry as the model sees it, observed ones too: .npy, .csv, .tsv or .mtx")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--model", options.model, "save the solution for `predict` (NumPy opens it)")
      ->type_name("FILE.npz")
      ->group("Output");
  add_integer(
      app, "--model-parts", options.model_parts, 1, 1000000,
      "make --model a folder of so many files of rows, which ranks write side by side, and a manifest; `predict` "
      "and others take it like a file")
      ->group("Output");
  app.add_option("--certificate", options.certificate, "save the proof of the lower bound for `verify`")
      ->type_name("FILE.npz")
      ->group("Output");
  app.add_option("--json", options.json, "write everything about the run; - for standard output")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--report", options.report,
                 "write a page about the run: convergence, singular values, residuals, errors; opens in any browser")
      ->type_name("FILE.html")
      ->group("Output");
  app.add_flag("--quiet,-q", options.quiet, "no progress, no notes, no summary")->group("Output");
}

/// The radius is meaningless to some methods.
void check_radius(const FitOptions& options) {
  if (options.choose_l1 && !options.chooses_radius()) {
    throw Error(ErrorCode::usage,
                "--l1 auto: is chosen together with the radius; leave --radius out, or give a number");
  }
  if (is_bounded(*options.method)) return;
  const auto refuse = [&](std::string_view option, std::string_view why) {
    throw Error(ErrorCode::usage, fmt::format("{}: method {} {}; leave it out, or use one of {}", option,
                                              method_name(*options.method), why, methods_where(is_bounded)));
  };
  if (options.norm_power.value_or(0) > 0) refuse("--norm-power", "has no bound on the trace norm");
  if (options.radius) refuse("--radius", "does not use it");
}

void check_gap(const FitOptions& options) {
  if (!options.run.gap || is_convex(*options.method)) return;
  throw Error(ErrorCode::usage,
              fmt::format("--gap: method {} is nonconvex and certifies nothing; leave it out, or use one of {}",
                          method_name(*options.method), methods_where(is_convex)));
}

/// A folder that may be made, or that holds a model in parts, or nothing.
void settle_model_folder(std::string& model) {
  namespace fs = std::filesystem;
  if (model.empty()) throw Error(ErrorCode::usage, "--model-parts: there is no model to write; give --model FOLDER");
  while (model.size() > 1 && model.ends_with('/')) model.pop_back();
  std::error_code ignored;
  if (!fs::exists(model, ignored)) return;
  std::string_view reason;
  if (!fs::is_directory(model, ignored)) reason = "it is a file";
  if (reason.empty() && !fs::is_empty(model, ignored) && !io::is_model_in_parts(model))
    reason = "it is a folder that holds something else";
  if (reason.empty()) return;
  throw TopicError(ErrorCode::input, Topic::writing,
                   fmt::format("--model: cannot write '{}': {}; give the name of a new folder, or of a model in parts",
                               model, reason));
}

/// What to try to write before the work.
std::string model_probe(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::is_directory(folder, ignored) ? folder + "/manifest.json" : folder;
}

void check_certificate(const EstimationOptions& options) {
  if (options.certificate.empty() || is_bounded(*options.fit.method)) return;
  throw Error(ErrorCode::usage,
              fmt::format("--certificate: method {} does not bound the trace norm and proves nothing; leave it out, or "
                          "use one of {}",
                          method_name(*options.fit.method), methods_where(is_bounded)));
}

}  // namespace

void add_estimation_options(CLI::App& app, EstimationOptions& options, const std::string& data_name,
                            const std::string& data_help) {
  app.add_option(data_name, options.data, data_help)->required()->type_name("FILE");
  add_estimation_options(app, options);
}

void add_estimation_options(CLI::App& app, EstimationOptions& options) {
  add_input_options(app, options);
  add_objective_options(app, options.fit);
  options.method.add_to(app);
  add_fields(app, options.fit.run, {"iterations", "gap", "time", "certificate_share", "seed", "threads", "backend"},
             "Run");
  add_checkpoint_options(app, options.checkpoint);
  add_output_options(app, options);
}

void check_output_size(const EstimationOptions& options, Index rows, Index cols) {
  constexpr double kMost = 4e9;
  if (options.output.empty()) return;
  const double bytes = io::matrix_file_bytes(io::matrix_file_format(options.output), rows, cols);
  if (bytes <= kMost) return;
  throw Error(
      ErrorCode::input,
      fmt::format("--output: all {} x {} entries would make '{}' about {:.1f} GB, more than the {:.0f} GB that this "
                  "program writes; save the model with --model and ask `predict` or `recommend` for what you need",
                  rows, cols, options.output, bytes / 1e9, kMost / 1e9));
}

void add_clip_options(CLI::App& app, FitOptions& options, const std::string& otherwise) {
  app.add_flag_callback(
         "--clip", [&options] { options.clip = true; },
         fmt::format("predictions keep within the least and the largest of the data (default: {})", otherwise))
      ->group("Data");
  app.add_flag_callback(
         "--no-clip", [&options] { options.clip = false; }, "predictions may leave the range of the data")
      ->group("Data");
}

void set_defaults(FitOptions& options, const Loss& loss) {
  options.loss = loss;
  options.prepare = Preparation::Kind::none;
  options.norm_power = 0;
  options.clip = false;
}

void settle(EstimationOptions& options, const std::vector<std::string>& inputs, const OutputPaths& further) {
  if (options.model_parts > 0) settle_model_folder(options.model);
  options.fit.method = options.method.make(options.fit.run.gap.has_value());
  const bool given = options.fit.method.has_value();
  if (given) check_radius(options.fit);
  options.fit.run.keep_dual = !options.certificate.empty();
  options.fit.run.threads = own_threads(options.fit.run.threads);
  options.read.threads = options.fit.run.threads;
  options.fit = settle(options.fit);
  if (!given) check_radius(options.fit);
  check_certificate(options);
  check_gap(options.fit);
  if (!options.output.empty()) parse_for("--output", [&] { return io::matrix_file_format(options.output); });
  if (!options.checkpoint.file.empty() && std::find(inputs.begin(), inputs.end(), kStdin) != inputs.end()) {
    throw TopicError(ErrorCode::usage, Topic::checkpoint,
                     "--checkpoint: data from standard input cannot be read again; give a file");
  }
  OutputPaths outputs{{"--json", options.json},
                      {"--model", options.model_parts > 0 ? model_probe(options.model) : options.model},
                      {"--certificate", options.certificate},
                      {"--report", options.report},
                      {"--output", options.output},
                      {"--checkpoint", options.checkpoint.file}};
  outputs.insert(outputs.end(), further.begin(), further.end());
  check_outputs(outputs, inputs);
}

std::string footer(std::string_view remarks) {
  return fmt::format(
      "{}\nExit codes: 0 finished as asked, 1 stopped by a limit before --gap, 2 usage, 3 bad input, 4 numerical "
      "failure, "
      "130 interrupted.",
      remarks);
}

}  // namespace tracenorm::app
