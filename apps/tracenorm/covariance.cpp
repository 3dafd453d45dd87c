// tracenorm covariance: from samples to a covariance that is semidefinite, sparse, and made of few factors and own
// variances.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "base/topic.hpp"
#include "commands.hpp"
#include "estimation.hpp"
#include "fit/phase.hpp"
#include "help_format.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "tracenorm/covariance.hpp"

namespace tracenorm::app {

namespace {

struct CovarianceCommand {
  EstimationOptions common;
  CovarianceOptions options;
  std::string precision;
  std::string pairs;
  bool correlation = false;
  bool asks_for_gap = false;
};

constexpr const char* kCovarianceExamples = R"(Examples:
  tracenorm covariance returns.csv --output covariance.csv
  tracenorm covariance returns.csv --estimate trimmed --output covariance.csv --report run.html
  tracenorm covariance survey.csv --correlation --output correlation.csv --precision partial.csv
  tracenorm covariance samples.npy --radius 12 --l1 0.05 --loss huber:0.1 --output covariance.npy

SAMPLES is a matrix as for denoise: one sample a line, one variable a column, names of variables in the first line, of
samples in the first column if there are any; an empty field or NaN is a missing value. The covariance of two variables
comes from the samples that have both.
Radius and l1 are those of correlations. With a radius alone there is no penalty. Left out, both are chosen: each fifth
of the samples is held out in turn, and the covariance made of the others compared with that of the fifth.)";

Samples samples_of(const io::Matrix& matrix) {
  return {matrix.rows, matrix.cols, {matrix.value.begin(), matrix.value.end()}};
}

/// What X is fitted to, as a list that `verify` reads.
io::NamedEntries pairs_of(const DenseObservations& data, const Labels& names) {
  io::NamedEntries pairs{data.rows, data.cols, {}, names, names};
  std::size_t at = 0;
  for (Index i = 0; i < data.rows; ++i) {
    for (Index j = 0; j < data.cols; ++j, ++at) {
      if (std::isnan(data.value[at])) continue;
      pairs.entries.row.push_back(i);
      pairs.entries.col.push_back(j);
      pairs.entries.value.push_back(data.value[at]);
      if (!data.weight.empty()) pairs.weight.push_back(data.weight[at]);
    }
  }
  return pairs;
}

/// The message of the library, about the file.
template <class Work>
auto about_file(const std::string& file, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::input) throw;
    const std::string message = fmt::format("'{}': {}", file, error.what());
    if (const auto* known = dynamic_cast<const TopicError*>(&error))
      throw TopicError(error.code(), known->topic(), message);
    throw Error(error.code(), message);
  }
}

int run(CovarianceCommand command) {
  EstimationOptions& common = command.common;
  common.fit.symmetry = Symmetry::semidefinite;
  settle(common, {common.data}, {{"--precision", command.precision}, {"--pairs", command.pairs}});
  if (!command.precision.empty()) parse_for("--precision", [&] { return io::matrix_file_format(command.precision); });

  Watch watch(common);
  std::vector<PhaseCost> before;
  PhaseClock clock(before);
  watch.on_phase("reading " + common.data);
  io::Matrix matrix = io::read_matrix(common.data, common.read);
  check_output_size(common, matrix.cols, matrix.cols);
  const Samples samples = samples_of(matrix);
  clock.end("read");
  command.options.fit = common.fit;
  CovarianceFit found = about_file(
      common.data, [&] { return fit_covariance(samples, command.options, watch.hooks(), matrix.col_labels); });
  report::RunReport report{std::move(found.fit)};
  report.profile.insert(report.profile.begin(), before.begin(), before.end());
  report.command = "covariance";
  report.kind = DataKind::entries;  // those of --pairs
  report.columns = matrix.columns;
  report.rows = matrix.col_labels;
  report.cols = std::move(matrix.col_labels);
  report.options = {{"estimate", std::string(to_string(command.options.estimate))},
                    {"folds", std::int64_t{command.options.folds}},
                    {"least_pairs", std::int64_t{command.options.least_pairs}},
                    {"correlation", command.correlation}};
  // Correlations that X can follow to the last digit leave an objective near zero, and no relative gap: who asked for
  // none has not missed it.
  if (!command.asks_for_gap) report.run.gap.reset();
  const CovarianceEstimate& estimate = found.estimate;
  std::vector<FurtherOutput> further;
  const auto add_matrix = [&](const std::string& to, const Eigen::MatrixXd& whole) {
    further.push_back(
        {to, [&report, whole](const std::string& path) { io::write_matrix(path, whole, report.rows, report.cols); }});
  };
  if (const std::string path = std::exchange(common.output, {}); !path.empty())
    add_matrix(path, command.correlation ? estimate.correlation() : estimate.covariance());
  if (!command.precision.empty()) {
    const Precision precision = precision_of(estimate, command.correlation);
    if (precision.ridge > 0) {
      note(common.quiet, fmt::format("--precision: the estimate is singular or nearly so; {:.3g} of each variance was "
                                     "added to it before it was inverted",
                                     precision.ridge));
    }
    add_matrix(command.precision, precision.matrix);
  }
  further.push_back({command.pairs, [&report](const std::string& path) {
                       io::write_entries(
                           path, pairs_of(std::get<DenseObservations>(report.problem.observations), report.cols));
                     }});
  report.covariance = std::move(found.estimate);
  return finish(common, report, watch, further);
}

}  // namespace

void add_covariance(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand(
      "covariance", "a covariance from samples: semidefinite, sparse, of few factors and own variances");
  const auto command = std::make_shared<CovarianceCommand>();
  EstimationOptions& common = command->common;
  set_defaults(common.fit, losses::Squared{0.5});
  common.fit.choose_l1 = true;
  common.fit.run.gap = 0.01;
  add_estimation_options(*app, common, "SAMPLES", "a matrix of numbers, one sample a line");
  for (const char* name : {"--prepare", "--norm-power", "--norm-smoothing", "--columns", "--duplicates"})
    app->remove_option(app->get_option(name));  // samples have none of these
  add_choice<SampleEstimate>(*app, "--estimate", command->options.estimate,
                             {{"plain", SampleEstimate::plain}, {"trimmed", SampleEstimate::trimmed}},
                             fmt::format("trimmed: values further than {:g} robust deviations from the median of their "
                                         "variable count as missing",
                                         kFarValue))
      ->group("Data");
  add_integer(*app, "--least-pairs", command->options.least_pairs, 2, 1000000000,
              "a covariance of fewer samples is not looked at")
      ->group("Data");
  add_integer(*app, "--folds", command->options.folds, 2, 1000, "parts of the samples that are held out in turn")
      ->group("Objective");
  app->add_flag("--correlation", command->correlation, "write correlations in place of covariances")->group("Output");
  app->add_option("--precision", command->precision, "write the inverse: .npy, .csv, .tsv or .mtx")
      ->type_name("FILE")
      ->group("Output");
  app->add_option("--pairs", command->pairs,
                  "write the correlations that X is fitted to, as triplets: what `verify` wants beside model and "
                  "certificate")
      ->type_name("FILE.tsv")
      ->group("Output");
  app->get_option("--output")->description("write the covariance, with the variables' names: .npy, .csv, .tsv or .mtx");
  app->get_option("--model")->description("save X, what the variables have in common, as a model of the correlations");
  show_first(*app, {"--missing", "--skip-columns", "--estimate", "--radius", "--l1", "--loss", "--gap", "--time",
                    "--output", "--correlation", "--precision", "--report", "--json", "--quiet"});
  app->footer(footer(kCovarianceExamples));
  app->callback([command, app, &action] {
    FitOptions& fit = command->common.fit;
    if (fit.radius && app->count("--l1") == 0) fit.choose_l1 = false;  // it is chosen together with a radius, or not
    command->asks_for_gap = app->count("--gap") > 0;
    action = [command] { return run(*command); };
  });
}

}  // namespace tracenorm::app
