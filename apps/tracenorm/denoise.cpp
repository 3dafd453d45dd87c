// tracenorm denoise: sparse and low-rank estimation of a full or partly observed matrix.
#include <memory>
#include <utility>

#include "commands.hpp"
#include "estimation.hpp"
#include "option_values.hpp"

namespace tracenorm::app {

namespace {

struct DenoiseOptions {
  EstimationOptions common;
  std::string test;
};

constexpr const char* kFooter = R"(Examples:
  tracenorm denoise noisy.npy --radius 44 --l1 0.4
  tracenorm denoise noisy.npy --radius 44 --l1 0.4 --method sccg --mu 0.01 --iterations 300 --json run.json
  tracenorm denoise noisy.npy --method genfb --trace-penalty 2 --l1 0.4
  tracenorm denoise holes.npy --radius 10 --l1 0.1 --loss absolute --test truth.npy --model m.npz

MATRIX may be .npy, Matrix Market or a text of rows; NaN marks a missing entry.
Method genfb penalises the trace norm instead of bounding it; the trace norm of its answer is the radius at which the other
methods solve the same problem.)";

int run(const DenoiseOptions& options) {
  const EstimationOptions& common = options.common;
  check_before_reading(common, {common.data, options.test});

  io::Matrix matrix = io::read_matrix(common.data, common.read);
  Estimation estimation;
  estimation.command = "denoise";
  const io::NamedEntries table{matrix.rows, matrix.cols, {}, matrix.row_labels, matrix.col_labels};
  estimation.rows = matrix.row_labels;
  estimation.cols = matrix.col_labels;
  estimation.columns = matrix.columns;
  DenseObservations data{matrix.rows, matrix.cols, std::move(matrix.value), {}};
  if (common.prepare) {
    estimation.preparation =
        parse_for("--prepare", [&] { return fit_preparation(*common.prepare, averaging_for(common.loss), data); });
    prepare(estimation.preparation, data);
  }
  estimation.problem = {std::move(data), common.loss, l1_penalty(common), {}};
  estimation.problem.constraint = constraint(common, estimation.problem.observations);
  if (common.chooses_radius()) estimation.choosing = hold_out(estimation.problem, common.run.seed);
  estimation.options = {{"test", {}}};
  TestSet test;
  if (!options.test.empty()) {
    estimation.options.back().value = options.test;
    test = read_held_out(options.test, "test", table, common);
    estimation.test = [&](const LowRankMatrix& x) {
      return judge(x, common.loss, estimation.preparation, test.entries);
    };
  }
  return estimate(common, estimation);
}

}  // namespace

void add_denoise(CLI::App& program, Action& action) {
  CLI::App* app =
      program.add_subcommand("denoise", "sparse and low-rank estimation of a full or partly observed matrix");
  const auto options = std::make_shared<DenoiseOptions>();
  options->common.loss = losses::Squared{0.5};
  add_estimation_options(*app, options->common, "MATRIX", "a matrix of numbers");
  app->add_option("--test", options->test, "clean entries to judge the answer on")->type_name("FILE")->group("Data");
  app->get_option("--prepare")->default_str("none");
  app->footer(footer(kFooter));
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
