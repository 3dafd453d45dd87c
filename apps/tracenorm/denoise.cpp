// tracenorm denoise: sparse and low-rank estimation of a full or partly observed matrix.
#include <memory>
#include <utility>

#include "commands.hpp"
#include "entry_check.hpp"
#include "estimation.hpp"

namespace tracenorm::app {

namespace {

struct DenoiseOptions {
  EstimationOptions common;
  std::string test;
};

constexpr const char* kDenoiseExamples = R"(Examples:
  tracenorm denoise noisy.npy --radius 44 --l1 0.4
  tracenorm denoise noisy.npy --radius 44 --l1 0.4 --method sccg --mu 0.01 --iterations 300 --json run.json
  tracenorm denoise noisy.npy --method genfb --trace-penalty 2 --l1 0.4
  tracenorm denoise holes.npy --radius 10 --l1 0.1 --loss absolute --test truth.npy --model m.npz

MATRIX may be .npy, Matrix Market or a text of rows; NaN marks a missing entry.
Method genfb penalises the trace norm instead of bounding it; the trace norm of its answer is the radius at which the other
methods solve the same problem.)";

int run(DenoiseOptions options) {
  EstimationOptions& common = options.common;
  settle(common, {common.data, options.test});

  io::Matrix matrix = io::read_matrix(common.data, common.read);
  TestSet test;
  if (!options.test.empty()) {
    test = read_held_out(options.test, "test", {matrix.rows, matrix.cols, {}, matrix.row_labels, matrix.col_labels},
                         common);
  }
  DenseObservations data{matrix.rows, matrix.cols, std::move(matrix.value), {}};
  check_entries(*common.fit.loss, data, matrix.row_labels, matrix.col_labels, common.data);
  const Watch watch(common.quiet);
  report::RunReport report{fit(std::move(data), common.fit, watch.hooks())};
  report.command = "denoise";
  report.kind = DataKind::matrix;
  report.columns = matrix.columns;
  report.rows = std::move(matrix.row_labels);
  report.cols = std::move(matrix.col_labels);
  report.options = {{"test", {}}};
  if (!options.test.empty()) {
    report.options.back().value = options.test;
    report.test = judge(report.result.solution, report.problem.loss, report.preparation, test.entries);
  }
  return finish(common, report);
}

}  // namespace

void add_denoise(CLI::App& program, Action& action) {
  CLI::App* app =
      program.add_subcommand("denoise", "sparse and low-rank estimation of a full or partly observed matrix");
  const auto options = std::make_shared<DenoiseOptions>();
  set_defaults(options->common.fit, losses::Squared{0.5});
  add_estimation_options(*app, options->common, "MATRIX", "a matrix of numbers");
  app->add_option("--test", options->test, "clean entries to judge the answer on")->type_name("FILE")->group("Data");
  app->footer(footer(kDenoiseExamples));
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
