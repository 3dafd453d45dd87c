// tracenorm generate completion: some entries of a low-rank matrix, some of them grossly wrong.
#include <Eigen/Core>
#include <cmath>
#include <memory>
#include <utility>

#include "base/random.hpp"
#include "commands.hpp"
#include "generate.hpp"
#include "generate_parts.hpp"
#include "option_values.hpp"
#include "process_ranks.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/low_rank_matrix.hpp"

namespace tracenorm::app {

namespace {

struct GeneratedCompletion {
  GenerateOptions common;
  Index rows = 1000;
  Index cols = 800;
  Index rank = 5;
  double observed = 0.2;
  double outliers = 0.1;
  double noise = 0;
  Offset truth_entries = 50000;
  int parts = 0;  ///< 0: one file
};

constexpr const char* kCompletionExamples = R"(Examples:
  tracenorm generate completion train.tsv --truth truth.tsv
  tracenorm generate completion train.tsv --rows 300 --cols 200 --rank 3 --observed 0.3 --outliers 0 --noise 0.1
  mpirun -n 16 tracenorm generate completion large --parts 16 --rows 10000000 --cols 100000 --observed 0.0005

The truth is a product of Gaussian factors, scaled so that its entries have deviation 1. An outlier is shifted by 5 to 10, up or
down. The truth file holds clean values at places that were not observed, for --test. --parts makes a folder that `complete` reads:
entries are observed, and are outliers, independently of each other, each row by random numbers of its own, so that the lines are the
same whoever writes them.)";

LowRankMatrix make_truth(const GeneratedCompletion& options, Random& random) {
  Eigen::MatrixXd left(options.rows, options.rank);
  Eigen::MatrixXd right(options.cols, options.rank);
  for (double& entry : left.reshaped()) entry = random.normal();
  for (double& entry : right.reshaped()) entry = random.normal();
  const Eigen::VectorXd values = Eigen::VectorXd::Constant(options.rank, 1 / std::sqrt(options.rank));
  LowRankMatrix truth(std::move(left), values, std::move(right));
  truth.compress();
  return truth;
}

/// Draws exactly `wanted` of `total` places in ascending order: each is taken with the probability that makes all
/// choices equally likely (Fan, Muller and Rezucha's selection sampling).
class Selection {
 public:
  Selection(Offset wanted, Offset total) : wanted_(wanted), left_(total) {}
  bool take(Random& random) {
    const bool taken = random.uniform() * static_cast<double>(left_) < static_cast<double>(wanted_);
    --left_;
    if (taken) --wanted_;
    return taken;
  }

 private:
  Offset wanted_;
  Offset left_;
};

Offset share_of(double share, Offset total) { return std::llround(share * static_cast<double>(total)); }

void append(Entries& entries, Index row, Index col, double value) {
  entries.row.push_back(row);
  entries.col.push_back(col);
  entries.value.push_back(static_cast<Real>(value));
}

struct Sample {
  Entries observed;
  Entries held_out;  // clean values elsewhere
};

Sample draw_entries(const GeneratedCompletion& options, const LowRankMatrix& truth, Random& random) {
  const Offset total = static_cast<Offset>(options.rows) * options.cols;
  const Offset observed = std::max<Offset>(1, share_of(options.observed, total));
  Selection see(observed, total);
  Selection hold_out(std::min(options.truth_entries, total - observed), total - observed);
  Sample sample;
  for (Index i = 0; i < options.rows; ++i) {
    const Eigen::MatrixXd row = truth.dense_rows(i, i + 1);
    for (Index j = 0; j < options.cols; ++j) {
      if (see.take(random)) {
        append(sample.observed, i, j, row(0, j));
      } else if (hold_out.take(random)) {
        append(sample.held_out, i, j, row(0, j));
      }
    }
  }
  return sample;
}

/// Noise on every entry, and a shift on the outliers. Returns the number of outliers.
Offset corrupt(Entries& entries, const GeneratedCompletion& options, Random& random) {
  const Offset outliers = share_of(options.outliers, entries.size());
  Selection shift(outliers, entries.size());
  for (Real& value : entries.value) {
    double change = options.noise * random.normal();
    if (shift.take(random)) change += (random.uniform() < 0.5 ? -1 : 1) * (5 + 5 * random.uniform());
    value = static_cast<Real>(value + change);
  }
  return outliers;
}

int run_in_parts(const GeneratedCompletion& options) {
  if (options.common.want_truth)
    throw Error(ErrorCode::usage, "--truth and --parts do not go together; hold out entries with --split of complete");
  check_outputs({{"--json", options.common.json}}, {});
  const PartsFacts made = write_parts(options.common.file,
                                      {options.rows, options.cols, options.rank, options.observed, options.outliers,
                                       options.noise, options.common.seed},
                                      options.parts);
  if (!is_spokesman()) return 0;
  report_facts(options.common, {{"folder", options.common.file},
                                {"parts", std::int64_t{options.parts}},
                                {"rows", std::int64_t{options.rows}},
                                {"cols", std::int64_t{options.cols}},
                                {"rank", std::int64_t{options.rank}},
                                {"observed", made.observed},
                                {"outliers", made.outliers},
                                {"noise", options.noise},
                                {"trace_norm", made.trace_norm},
                                {"seed", static_cast<std::int64_t>(options.common.seed)}});
  return 0;
}

int run(const GeneratedCompletion& options) {
  if (options.rank > std::min(options.rows, options.cols)) {
    throw Error(ErrorCode::usage, "--rank: larger than the matrix; give at most the smaller of --rows and --cols");
  }
  if (options.parts > 0) return run_in_parts(options);
  if (!is_spokesman()) return 0;
  check_outputs(options.common.outputs(), {});
  Random random(options.common.seed);
  const LowRankMatrix truth = make_truth(options, random);
  Sample sample = draw_entries(options, truth, random);
  const Offset outliers = corrupt(sample.observed, options, random);

  std::vector<report::NamedValue> facts{{"file", options.common.file},
                                        {"rows", std::int64_t{options.rows}},
                                        {"cols", std::int64_t{options.cols}},
                                        {"rank", std::int64_t{options.rank}},
                                        {"observed", sample.observed.size()},
                                        {"outliers", outliers},
                                        {"noise", options.noise},
                                        {"trace_norm", truth.trace_norm_bound()},
                                        {"seed", static_cast<std::int64_t>(options.common.seed)}};
  io::write_entries(options.common.file, {options.rows, options.cols, std::move(sample.observed), {}, {}});
  if (const std::string path = options.common.truth_path(); !path.empty()) {
    facts.push_back({"truth", path});
    facts.push_back({"truth_entries", sample.held_out.size()});
    io::write_entries(path, {options.rows, options.cols, std::move(sample.held_out), {}, {}});
  }
  report_facts(options.common, facts);
  return 0;
}

}  // namespace

void add_generate_completion(CLI::App& generate, Action& action) {
  CLI::App* app =
      generate.add_subcommand("completion", "some entries of a low-rank matrix, some of them grossly wrong");
  const auto options = std::make_shared<GeneratedCompletion>();
  add_generate_options(*app, options->common, "FILE.tsv", "also write clean entries that were not observed");
  add_integer(*app, "--rows", options->rows, 1, 10000000, "rows");
  add_integer(*app, "--cols", options->cols, 1, 10000000, "columns");
  add_integer(*app, "--rank", options->rank, 1, 10000, "rank of the truth");
  add_number(*app, "--observed", options->observed, kShare, "share of the entries that are observed");
  add_number(*app, "--outliers", options->outliers, kProbability,
             "share of the observed entries that are grossly wrong");
  add_number(*app, "--noise", options->noise, kNotNegative,
             "standard deviation of the Gaussian noise on observed entries");
  add_integer(*app, "--truth-entries", options->truth_entries, 1, 1000000000,
              "at most this many entries in the truth file");
  add_integer(*app, "--parts", options->parts, 1, 1000000,
              "make FILE.tsv a folder of so many files, which threads, and ranks under mpirun, write side by side");
  app->footer(kCompletionExamples);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
