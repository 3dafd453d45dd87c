#include "estimation_options.hpp"

#include <fmt/format.h>

#include "option_values.hpp"
#include "outputs.hpp"
#include "reading_options.hpp"
#include "report/method_fields.hpp"

namespace tracenorm::app {

namespace {

constexpr int kMaxThreads = 4096;

std::string loss_list() {
  std::string text = "what a deviation costs";
  for (const LossHelp& help : loss_help()) {
    text += fmt::format("\n{}: for {}", help.name, help.wants);
    if (!help.parameter.empty())
      text += fmt::format("; X is the {} ({:g}), {}", help.parameter, help.default_value, help.help);
  }
  return text;
}

constexpr std::string_view kRadiusWants =
    "auto, or a number above 0: the largest sum of singular values the answer may have, in the units of the prepared "
    "data";

bool is_unbounded(const Method& method) { return !is_bounded(method); }

std::optional<double> parse_radius(const std::string& text) {
  if (text == "auto") return std::nullopt;
  return to_number("--radius", text, {0, 1e300, kRadiusWants, false});
}

constexpr std::string_view kL1Wants = "a number that is 0 or more, or auto";

void parse_l1(EstimationOptions& options, const std::string& text) {
  options.chooses_l1 = text == "auto";
  options.l1 = options.chooses_l1 ? 0 : to_number("--l1", text, {0, 1e300, kL1Wants});
}

void add_input_options(CLI::App& app, EstimationOptions& options, const std::string& data_name,
                       const std::string& data_help) {
  app.add_option(data_name, options.data, data_help)->required()->type_name("FILE");
  add_reading_options(app, options.read);
  app.add_option_function<std::string>(
         "--prepare",
         [&options](const std::string& text) {
           options.prepare = parse_for("--prepare", [&] { return parse_preparation(text); });
         },
         "change of units before solving, undone in predictions")
      ->type_name("none|center|zscore|rows|columns|both")
      ->group("Data");
}

void add_objective_options(CLI::App& app, EstimationOptions& options) {
  app.add_option_function<std::string>(
         "--radius", [&options](const std::string& text) { options.radius = parse_radius(text); },
         fmt::format(
             "bound on the trace norm (the sum of singular values) of the answer; auto: a path of radii is tried on "
             "held-out entries. {} have none",
             methods_where(is_unbounded)))
      ->type_name("R|auto")
      ->default_str("auto")
      ->group("Objective");
  app.add_option_function<std::string>(
         "--norm-power",
         [&options](const std::string& text) {
           options.norm_weights.power = to_number("--norm-power", text, kProbability);
           options.norm_power_given = true;
         },
         "weigh rows and columns in the trace norm by this power of how many entries they have; 0: not, 0.5: as in "
         "the theory of entries observed unevenly")
      ->type_name("X")
      ->default_str("0")
      ->group("Objective");
  add_number(app, "--norm-smoothing", options.norm_weights.smoothing, {0, 1, "a number above 0 and at most 1", false},
             "share of equal counts mixed into the counts before --norm-power")
      ->group("Objective");
  app.add_option_function<std::string>(
         "--loss",
         [&options](const std::string& text) {
           options.loss = parse_for("--loss", [&] { return parse_loss(text); });
           options.loss_given = true;
         },
         loss_list())
      ->type_name("NAME[:X]")
      ->default_str(to_string(options.loss))
      ->group("Objective");
  app.add_option_function<std::string>(
         "--l1", [&options](const std::string& text) { parse_l1(options, text); },
         "penalty on the absolute value of every entry: makes it sparse; auto: several are tried on held-out entries")
      ->type_name("X|auto")
      ->default_str("0")
      ->group("Objective");
}

void add_run_options(CLI::App& app, EstimationOptions& options) {
  RunOptions& run = options.run;
  add_integer(app, "--iterations", run.iterations, 1, kMaxIterations, "stop after this many")->group("Run");
  add_number(app, "--gap", run.gap, kPositive,
             "stop at this certified relative gap (0.01: proved to be within 1 % of the optimum)")
      ->group("Run");
  add_number(app, "--time", run.seconds, kPositive, "stop after this many seconds")->group("Run");
  add_number(app, "--certificate-share", run.certificate_share, kProbability,
             "share of the work that may go into lower bounds; 0: only one at the end")
      ->group("Run");
  add_seed(app, run.seed, "of everything random; the same seed gives the same bits")->group("Run");
  add_integer(app, "--threads", run.threads, 0, kMaxThreads, "0: all cores; the result does not depend on it")
      ->group("Run");
}

void add_output_options(CLI::App& app, EstimationOptions& options) {
  app.add_option("--model", options.model, "save the solution for `predict` (NumPy opens it)")
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
void check_radius(const EstimationOptions& options, const Method& method) {
  if (options.chooses_l1 && !options.chooses_radius()) {
    throw Error(ErrorCode::usage,
                "--l1 auto: is chosen together with the radius; leave --radius out, or give a number");
  }
  if (is_unbounded(method) && options.norm_weights.power > 0) {
    throw Error(ErrorCode::usage,
                fmt::format("--norm-power: method {} has no bound on the trace norm; leave it out, or "
                            "use one of {}",
                            method_name(method), methods_where(is_bounded)));
  }
  if (is_unbounded(method) && options.radius) {
    throw Error(ErrorCode::usage, fmt::format("--radius: method {} does not use it; leave it out, or use one of {}",
                                              method_name(method), methods_where(is_bounded)));
  }
}

void check_gap(const EstimationOptions& options, const Method& method) {
  if (!options.run.gap || report::is_convex(method)) return;
  throw Error(ErrorCode::usage,
              fmt::format("--gap: method {} is nonconvex and certifies nothing; leave it out, or use one of {}",
                          method_name(method), methods_where(report::is_convex)));
}

}  // namespace

void add_estimation_options(CLI::App& app, EstimationOptions& options, const std::string& data_name,
                            const std::string& data_help) {
  add_input_options(app, options, data_name, data_help);
  add_objective_options(app, options);
  options.method.add_to(app);
  add_run_options(app, options);
  add_output_options(app, options);
}

void check_before_reading(const EstimationOptions& options, const std::vector<std::string>& inputs) {
  const Method method =
      options.method.make(options.run.gap.has_value());  // throws when the method's options do not fit it
  check_radius(options, method);
  check_gap(options, method);
  check_outputs({{"--json", options.json}, {"--model", options.model}, {"--report", options.report}}, inputs);
}

std::string footer(std::string_view remarks) {
  return fmt::format(
      "{}\nExit codes: 0 finished as asked, 1 stopped by a limit before --gap, 2 usage, 3 bad input, 4 numerical "
      "failure, "
      "130 interrupted.",
      remarks);
}

Constraint constraint(const EstimationOptions& options, const Observations& observations) {
  return weighted_ball(options.radius.value_or(TraceNormBall{}.radius), options.norm_weights, observations);
}

Penalty l1_penalty(const EstimationOptions& options) {
  if (options.l1 > 0) return L1Penalty{options.l1};
  return NoPenalty{};
}

bool wants_labels(const Loss& loss) {
  return std::visit([](const auto& chosen) { return !chosen.accepts(0.5); }, loss);
}

}  // namespace tracenorm::app
