// tracenorm denoise: sparse and low-rank estimation of a full or partly observed matrix.
#include <memory>
#include <utility>

#include "commands.hpp"
#include "entry_check.hpp"
#include "estimation.hpp"
#include "fit/phase.hpp"
#include "help_format.hpp"

namespace tracenorm::app {

namespace {

struct DenoiseOptions {
  EstimationOptions common;
  std::string test;
  bool psd = false;
  bool symmetric = false;
};

constexpr const char* kDenoiseExamples = R"(Examples:
  tracenorm denoise noisy.npy --output clean.npy
  tracenorm denoise noisy.csv --radius 44 --l1 0.4 --output clean.csv --report run.html
  tracenorm denoise noisy.npy --radius 44 --l1 0.4 --method sccg --mu 0.01 --iterations 300 --json run.json
  tracenorm denoise noisy.npy --method genfb --trace-penalty 2 --l1 0.4
  tracenorm denoise covariance.npy --psd --radius 20 --l1 0.05 --output clean.npy
  tracenorm denoise holes.npy --radius 10 --l1 0.1 --loss absolute --test truth.npy --model m.npz

MATRIX may be .npy, Matrix Market or a text of rows; NaN marks a missing entry.
Method genfb penalises the trace norm instead of bounding it; the trace norm of its answer is the radius at which the other
methods solve the same problem.)";

int run(DenoiseOptions options) {
  EstimationOptions& common = options.common;
  if (options.symmetric) common.fit.symmetry = Symmetry::symmetric;
  if (options.psd) common.fit.symmetry = Symmetry::semidefinite;
  settle(common, {common.data, options.test});

  Watch watch(common);
  std::vector<PhaseCost> before;
  PhaseClock clock(before);
  watch.on_phase("reading " + common.data);
  io::Matrix matrix = io::read_matrix(common.data, common.read);
  check_output_size(common, matrix.rows, matrix.cols);
  Entries test;
  if (!options.test.empty()) {
    test = read_held_out(options.test, "test", {matrix.rows, matrix.cols, {}, matrix.row_labels, matrix.col_labels},
                         common);
  }
  DenseObservations data{matrix.rows, matrix.cols, std::move(matrix.value), {}};
  check_entries(*common.fit.loss, data, matrix.row_labels, matrix.col_labels, common.data);
  clock.end("read");
  report::RunReport report{fit(std::move(data), common.fit, watch.hooks())};
  report.profile.insert(report.profile.begin(), before.begin(), before.end());
  report.command = "denoise";
  report.kind = DataKind::matrix;
  report.columns = matrix.columns;
  report.rows = std::move(matrix.row_labels);
  report.cols = std::move(matrix.col_labels);
  report.options = {
      {"symmetry", std::string(to_string(common.fit.symmetry))}, {"symmetrize", common.fit.symmetrize}, {"test", {}}};
  if (!options.test.empty()) {
    report.options.back().value = options.test;
    report.test = judge_on(report, test);
  }
  return finish(common, report, watch);
}

}  // namespace

void add_denoise(CLI::App& program, Action& action) {
  CLI::App* app =
      program.add_subcommand("denoise", "sparse and low-rank estimation of a full or partly observed matrix");
  const auto options = std::make_shared<DenoiseOptions>();
  set_defaults(options->common.fit, losses::Squared{0.5});
  add_estimation_options(*app, options->common, "MATRIX", "a matrix of numbers");
  app->add_option("--test", options->test, "clean entries to judge the answer on")->type_name("FILE")->group("Data");
  app->add_flag("--symmetric", options->symmetric, "the answer is symmetric; the data must be")->group("Objective");
  app->add_flag("--psd", options->psd,
                "the answer is symmetric and positive semidefinite, as a covariance is; the radius bounds its trace")
      ->group("Objective");
  app->add_flag("--symmetrize", options->common.fit.symmetrize,
                "take the mean of each two entries (i,j) and (j,i), or the one that is there")
      ->group("Objective");
  add_clip_options(*app, options->common.fit, "not");
  show_first(*app, {"--missing", "--test", "--radius", "--l1", "--loss", "--clip", "--gap", "--time", "--output",
                    "--model", "--report", "--json", "--quiet"});
  app->footer(footer(kDenoiseExamples));
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
