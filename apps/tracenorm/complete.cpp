// tracenorm complete: robust matrix completion.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "commands.hpp"
#include "estimation.hpp"
#include "option_values.hpp"
#include "split.hpp"

namespace tracenorm::app {

namespace {

struct CompleteOptions {
  EstimationOptions common;
  double complement = 0;
  std::string split_text;
  Shares shares;
  std::string test;
};

constexpr const char* kDefaultMethod = "fwua";

constexpr const char* kFooter = R"(Examples:
  tracenorm complete ratings.tsv --radius 1200
  tracenorm complete u.data --radius 1200 --split 0.5,0.25,0.25 --seed 1 --json run.json
  tracenorm complete train.csv --radius 500 --loss huber:0.5 --gap 0.01 --test test.csv --model m.npz
  tracenorm complete votes.tsv --radius 300 --loss logistic --iterations 200
  tracenorm complete u.data --method rlrmc --rank 2 --split 0.5,0.25,0.25

DATA may be MovieLens (u.data, ratings.dat, ratings.csv or the zip), CSV or TSV triplets, Matrix Market, .npy, SciPy's sparse
.npz or LIBMF triplets, and may be compressed (.gz, .xz).
A larger --radius follows the data more closely, noise included: compare a few by the validation error that --split reports.)";

Penalty make_penalty(const CompleteOptions& options) {
  if (options.common.l1 > 0 && options.complement > 0) {
    throw Error(ErrorCode::usage, "--l1 and --complement: a problem has one penalty; give one of them");
  }
  if (options.complement > 0) return ComplementSquaredPenalty{options.complement};
  return l1_penalty(options.common);
}

/// Labels must stay labels; numbers are solved as z-scores unless told otherwise.
Preparation::Kind preparation_kind(const EstimationOptions& options) {
  if (!wants_labels(options.loss)) return options.prepare.value_or(Preparation::Kind::zscore);
  if (options.prepare.value_or(Preparation::Kind::none) != Preparation::Kind::none) {
    throw Error(ErrorCode::usage, fmt::format("--prepare: {} does not fit --loss {}, whose labels must stay -1 and +1; "
                                              "use --prepare none",
                                              to_string(*options.prepare), to_string(options.loss)));
  }
  return Preparation::Kind::none;
}

void check_options(const CompleteOptions& options) {
  if (options.shares.test > 0 && !options.test.empty()) {
    throw Error(ErrorCode::usage, "--split and --test: both give test entries; use a split whose third share is 0");
  }
  if (options.common.run.patience > 0 && options.shares.validation == 0) {
    throw Error(ErrorCode::usage, "--patience: needs a validation part; give --split, e.g. 0.5,0.25,0.25");
  }
}

TestSet make_test(const CompleteOptions& options, const Estimation& estimation, Entries from_split) {
  if (!options.test.empty()) return read_test(options.test, estimation, options.common);
  return {std::move(from_split), 0};
}

std::vector<report::NamedValue> own_options(const CompleteOptions& options) {
  std::vector<report::NamedValue> own;
  own.push_back({"split", {}});
  if (!options.split_text.empty()) own.back().value = options.split_text;
  own.push_back({"test", {}});
  if (!options.test.empty()) own.back().value = options.test;
  return own;
}

int run(const CompleteOptions& options) {
  const EstimationOptions& common = options.common;
  const Preparation::Kind kind = preparation_kind(common);
  const Penalty penalty = make_penalty(options);
  check_options(options);
  check_before_reading(common, {common.data, options.test});

  io::Table table = read_data([&] { return io::read_table(common.data, common.read); });
  Split split = split_entries(std::move(table.entries), options.shares, common.run.seed);

  Estimation estimation;
  estimation.command = "complete";
  estimation.preparation = fit_preparation(kind, split.train.value);
  prepare(estimation.preparation, split.train.value);
  estimation.problem = {make_sparse(table.rows, table.cols, split.train), common.loss, penalty, constraint(common)};
  split.train = {};  // the problem has them now
  estimation.rows = std::move(table.row_labels);
  estimation.cols = std::move(table.col_labels);
  estimation.validation = std::move(split.validation);
  estimation.options = own_options(options);

  const TestSet test = make_test(options, estimation, std::move(split.test));
  if (test.entries.size() > 0) {
    estimation.test = [&](const LowRankMatrix& x) {
      report::HeldOut held_out = judge(x, common.loss, estimation.preparation, test.entries);
      held_out.unknown = test.unknown;
      return held_out;
    };
  }
  return estimate(common, estimation);
}

}  // namespace

void add_complete(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("complete", "robust matrix completion: fill in a matrix from some entries");
  const auto options = std::make_shared<CompleteOptions>();
  options->common.method = MethodOptions(kDefaultMethod);
  add_estimation_options(*app, options->common, "DATA", "entries: row, column, value");
  add_number(*app, "--complement", options->complement, kNotNegative, "penalty on the square of every unobserved entry")
      ->group("Objective");
  app->add_option_function<std::string>(
         "--split",
         [options](const std::string& text) {
           options->shares = parse_shares(text);
           options->split_text = text;
         },
         "hold out random parts of DATA; the iterate that is best on VALID is returned")
      ->type_name("TRAIN,VALID,TEST")
      ->group("Data");
  app->add_option("--test", options->test, "entries to judge the answer on")->type_name("FILE")->group("Data");
  add_integer(*app, "--patience", options->common.run.patience, 0, kMaxIterations,
              "with a validation part: stop after this many iterations without a better one; 0: never")
      ->group("Run");
  app->get_option("--prepare")->default_str("zscore; none for losses of labels");
  app->footer(footer(kFooter));
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
