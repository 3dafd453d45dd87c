// tracenorm complete: robust matrix completion.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "base/among_ranks.hpp"
#include "base/random.hpp"
#include "commands.hpp"
#include "completion.hpp"
#include "fit/phase.hpp"
#include "help_format.hpp"
#include "option_values.hpp"
#include "split.hpp"

namespace tracenorm::app {

namespace {

struct CompleteOptions {
  CompletionOptions completion;
  std::string split_text;
  Shares shares;
  std::string validation;
  std::string test;
  double outliers = 0;
};

constexpr const char* kCompleteExamples = R"(Examples:
  tracenorm complete ratings.csv --model m.npz --report run.html
  tracenorm complete export.csv --columns who,film,stars
  tracenorm complete grades.csv --output filled.csv
  tracenorm complete u.data --split 0.5,0.25,0.25 --seed 1 --json run.json
  tracenorm complete u.data --radius 1200 --loss absolute --gap 0.05
  tracenorm complete train.csv --radius 500 --loss huber:0.5 --gap 0.01 --test test.csv --model m.npz
  tracenorm complete votes.tsv --radius 300 --loss logistic --iterations 200
  tracenorm complete u.data --method rlrmc --rank 2 --split 0.5,0.25,0.25

  tracenorm complete 2023.csv 2024.csv
  tracenorm complete ratings/ --radius 1200
  tracenorm complete 'part-*.csv.gz' --model m.npz

DATA may be MovieLens (u.data, ratings.dat, ratings.csv or the zip), CSV or TSV triplets, Matrix Market, .npy, SciPy's sparse
.npz or LIBMF triplets, and may be compressed (.gz, .xz). Several texts of triplets count as one that has all their lines: names one after another, a
folder (its files by name), a pattern in quotes, or @LIST, a file with a name a line. Each may have the header of the first again.
Without --radius everything that is not given is chosen: a path of radii is judged on the validation entries (or on a tenth of
DATA, and the answer is then solved on all of it). With --radius R the model is the paper's unless told otherwise.)";

void check_options(const CompleteOptions& options) {
  if (options.shares.test > 0 && !options.test.empty()) {
    throw Error(ErrorCode::usage, "--split and --test: both give test entries; use a split whose third share is 0");
  }
  if (options.shares.validation > 0 && !options.validation.empty()) {
    throw Error(ErrorCode::usage,
                "--split and --validation: both give validation entries; use a split whose second share is 0");
  }
  if (options.completion.common.fit.run.patience > 0 && options.shares.validation == 0 && options.validation.empty()) {
    throw Error(ErrorCode::usage,
                "--patience: needs validation entries; give --validation, or --split, e.g. 0.5,0.25,0.25");
  }
}

std::vector<report::NamedValue> own_options(const CompleteOptions& options, double deviation) {
  std::vector<report::NamedValue> own;
  own.push_back({"files", static_cast<std::int64_t>(options.completion.files.size())});
  const auto add = [&](const char* name, const std::string& value) {
    own.push_back({name, {}});
    if (!value.empty()) own.back().value = value;
  };
  add("split", options.split_text);
  add("validation", options.validation);
  add("test", options.test);
  add("weights", options.completion.weights);
  own.push_back({"outliers", options.outliers});
  own.push_back({"train_deviation", deviation});
  return own;
}

/// Of the sample, of all ranks where these have parts of it; zero for fewer than two values.
double deviation_of(const std::vector<Real>& values, const std::optional<DealtEntries>& dealt) {
  Ranks* ranks = dealt ? dealt->ranks : nullptr;
  const auto count = static_cast<double>(dealt ? dealt->all : static_cast<Offset>(values.size()));
  ExactSum sum;
  for (const Real value : values) sum.add(double(value));
  const double mean = total(sum, ranks) / count;
  ExactSum squares;
  for (const Real value : values) squares.add((double(value) - mean) * (double(value) - mean));
  return count < 2 ? 0 : std::sqrt(total(squares, ranks) / (count - 1));
}

/// Exactly this share of the entries, shifted by five deviations up or down: what a robust loss must live with. Returns
/// those that were.
Entries add_outliers(Entries& train, double share, double deviation, std::uint64_t seed) {
  Entries shifted;
  if (share == 0) return shifted;
  Random random(seed ^ 0x9e6c63d0876a9a35ULL);
  auto left = static_cast<double>(train.value.size());
  auto wanted = std::round(share * left);
  for (std::size_t e = 0; e < train.value.size(); ++e) {
    if (random.uniform() * left < wanted) {  // selection sampling: every choice is equally likely
      train.value[e] += static_cast<Real>((random.uniform() < 0.5 ? -5 : 5) * deviation);
      shifted.row.push_back(train.row[e]);
      shifted.col.push_back(train.col[e]);
      shifted.value.push_back(train.value[e]);
      --wanted;
    }
    --left;
  }
  return shifted;
}

int run(CompleteOptions options) {
  const EstimationOptions& common = options.completion.common;
  check_options(options);
  settle(options.completion, {options.validation, options.test});

  Watch watch(common);
  std::vector<PhaseCost> before;
  PhaseClock clock(before);
  watch.on_phase("reading " + common.data);
  Entries entries;
  CompletionData data = read_completion(options.completion, entries, options.outliers == 0);
  check_output_size(common, data.table.rows, data.table.cols);
  clock.end("read");
  Split split = split_data(std::move(entries), std::move(data.dealt), options.shares, common.fit.run.seed,
                           common.fit.run.threads);
  data.dealt = std::move(split.dealt);
  if (!options.validation.empty()) {
    split.validation = read_validation(options.validation, data.table, common);
  }
  Entries test = std::move(split.test);
  if (!options.test.empty()) test = read_held_out(options.test, "test", data.table, common);

  const double deviation = deviation_of(split.train.value, data.dealt);
  Entries outliers = add_outliers(split.train, options.outliers, deviation, common.fit.run.seed);
  clock.end("split");
  report::RunReport report{fit(
      fit_data(options.completion, data, std::move(split.train), std::move(split.validation), std::move(data.dealt)),
      common.fit, watch.hooks())};
  report.profile.insert(report.profile.begin(), before.begin(), before.end());
  report.command = "complete";
  report.replaced = std::move(outliers);
  report.columns = data.table.columns;
  report.options = own_options(options, deviation);
  report.rows = data.table.row_labels;
  report.cols = data.table.col_labels;
  PhaseClock judging(report.profile);
  if (test.size() > 0) {
    report.test = judge_on(report, test);
    judging.end("test");
  }
  return finish(common, report, watch);
}

}  // namespace

void add_complete(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("complete", "robust matrix completion: fill in a matrix from some entries");
  const auto options = std::make_shared<CompleteOptions>();
  EstimationOptions& common = options->completion.common;
  add_completion_options(*app, options->completion);
  app->add_option_function<std::string>(
         "--split",
         [options](const std::string& text) {
           options->shares = parse_shares(text);
           options->split_text = text;
         },
         "hold out random parts of DATA; the iterate that is best on VALID is returned, unless --gap asks for a "
         "certified one")
      ->type_name("TRAIN,VALID,TEST")
      ->group("Data");
  app->add_option("--validation", options->validation,
                  "entries to choose by: the iterate that is best on them is returned (unless --gap asks for a "
                  "certified one), and the "
                  "radius with --radius auto")
      ->type_name("FILE")
      ->group("Data");
  app->add_option("--test", options->test, "entries to judge the answer on")->type_name("FILE")->group("Data");
  add_number(*app, "--outliers", options->outliers, kProbability,
             "shift this share of the training entries by five deviations: a study of robustness")
      ->group("Data");
  add_fields(*app, common.fit.run, {"patience"}, "Run");
  show_first(*app, {"--columns", "--missing", "--split", "--test", "--radius", "--loss", "--clip", "--gap", "--time",
                    "--model", "--output", "--report", "--json", "--quiet"});
  app->footer(footer(kCompleteExamples));
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
