// tracenorm evaluate: how well a completion predicts what it has not seen, by folds or by a fixed test set.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.hpp"
#include "completion.hpp"
#include "help_format.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "report/folds.hpp"
#include "report/ranking.hpp"

namespace tracenorm::app {

namespace {

struct EvaluateOptions {
  CompletionOptions completion;
  int folds = 5;
  bool folds_given = false;
  std::string test;
  int top = 10;
  std::optional<double> relevant;
};

constexpr const char* kEvaluateExamples = R"(Examples:
  tracenorm evaluate ratings.csv
  tracenorm evaluate u.data --folds 10 --loss absolute --radius 400 --prepare both
  tracenorm evaluate train.tsv --test test.tsv --top 20 --relevant 4 --json scores.json

Each fold is predicted by a model made from the others; with --radius auto the radius is chosen anew, inside the training part.
Lists rank every column that a row does not have in its training part; an entry of the test part counts as relevant from
--relevant on (default: the mean of the data). An entry whose row or column has no training data (unknown) is predicted by what else
is known, and counts in the errors. Means over the folds are given with their standard deviation.)";

/// One train and test part.
struct Part {
  Entries train;
  Entries test;
};

void append(Entries& to, const Entries& from, std::size_t e) {
  to.row.push_back(from.row[e]);
  to.col.push_back(from.col[e]);
  to.value.push_back(from.value[e]);
}

/// How a score is shown.
enum class Look { plain, count, share };

struct Score {
  std::string name;
  Look look;
  std::vector<double> values;  ///< one per fold

  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  /// Zero for a single value.
  [[nodiscard]] double deviation() const {
    if (values.size() < 2) return 0;
    double squares = 0;
    for (const double value : values) squares += (value - mean()) * (value - mean());
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
};

class Scores {
 public:
  void add(const std::string& name, double value, Look look = Look::plain) {
    for (Score& score : scores_) {
      if (score.name == name) {
        score.values.push_back(value);
        return;
      }
    }
    scores_.push_back({name, look, {value}});
  }
  [[nodiscard]] const std::vector<Score>& all() const { return scores_; }

 private:
  std::vector<Score> scores_;
};

double mean_of(const std::vector<Real>& values) {
  double sum = 0;
  for (const Real value : values) sum += double(value);
  return sum / static_cast<double>(values.size());
}

/// A number of people, with the digits that mean something.
std::string shown(double value, Look look) {
  switch (look) {
    case Look::plain:
      break;
    case Look::count:
      return fmt::format("{:.4g}", value >= 1000 ? std::round(value) : value);
    case Look::share:
      return fmt::format("{:.3g} %", 100 * value);
  }
  return fmt::format("{:.4f}", value);
}

std::string to_text(const EvaluateOptions& options, const std::string& columns, const Scores& scores,
                    std::size_t parts) {
  std::string text = fmt::format("{:<18} {}, {}\n", "data", options.completion.common.data,
                                 options.test.empty() ? fmt::format("{} folds", parts) : "test set " + options.test);
  if (!columns.empty()) text += fmt::format("{:<18} {}\n", "columns", columns);
  for (const Score& score : scores.all()) {
    text += fmt::format("{:<18} {}", score.name, shown(score.mean(), score.look));
    if (score.deviation() > 0) text += fmt::format(" +- {}", shown(score.deviation(), score.look));
    text += "\n";
  }
  return text;
}

std::string to_json(const EvaluateOptions& options, const std::string& columns, const Scores& scores,
                    const Environment& environment) {
  nlohmann::ordered_json json;
  json["command"] = "evaluate";
  json["data"] = options.completion.common.data;
  json["columns"] = columns;
  json["test"] = options.test.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(options.test);
  json["folds"] = options.test.empty() ? options.folds : 1;
  json["top"] = options.top;
  json["seed"] = options.completion.common.fit.run.seed;
  for (const Score& score : scores.all()) {
    const auto number = [](double value) {
      return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
    };
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const double value : score.values) values.push_back(number(value));
    json["scores"][score.name] = {
        {"mean", number(score.mean())}, {"deviation", number(score.deviation())}, {"values", values}};
  }
  json["environment"] = nlohmann::ordered_json::parse(report::to_json(report::environment(environment)));
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Trains on one part and scores on the other. Returns false when interrupted.
bool score_part(const EvaluateOptions& options, const CompletionData& data, const Part& part, double relevant,
                Scores& scores, Environment& environment, const RunHooks& hooks) {
  const Fit fitted = fit(fit_data(options.completion, data, part.train, {}), options.completion.common.fit, hooks);
  const Result& result = fitted.result;
  if (result.status == Status::interrupted) return false;
  const HeldOut error = judge_on(fitted, part.test);
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) scores.add(name, *value);
  };
  add("rmse", error.rmse);
  add("mae", error.mae);
  add("rmse_prepared", error.rmse_prepared);
  add("mae_prepared", error.mae_prepared);
  add("auc", error.auc);
  const report::TopMeasures lists = report::top_measures(fitted.model(), part.train, part.test, options.top, relevant,
                                                         Execution(options.completion.common.fit.run.threads));
  scores.add(fmt::format("precision@{}", options.top), lists.precision);
  scores.add(fmt::format("recall@{}", options.top), lists.recall);
  scores.add(fmt::format("ndcg@{}", options.top), lists.ndcg);
  scores.add(fmt::format("hit_rate@{}", options.top), lists.hit_rate);
  scores.add(fmt::format("mrr@{}", options.top), lists.mrr);
  scores.add(fmt::format("coverage@{}", options.top), lists.coverage);
  if (is_bounded(fitted.method)) scores.add("radius", fitted.problem.radius(), Look::count);
  scores.add("rank", result.solution.terms(), Look::count);
  if (std::isfinite(result.relative_gap)) scores.add("relative_gap", result.relative_gap, Look::share);
  scores.add("test_entries", static_cast<double>(error.entries), Look::count);
  scores.add("unknown", static_cast<double>(error.unknown), Look::count);
  environment = result.environment;
  return true;
}

int run(EvaluateOptions options) {
  const EstimationOptions& common = options.completion.common;
  if (options.folds_given && !options.test.empty()) {
    throw Error(ErrorCode::usage, "--folds and --test: give one of them");
  }
  settle(options.completion, {options.test});
  Watch watch(common);
  watch.on_phase("reading " + common.data);
  Entries entries;
  const CompletionData data = read_completion(options.completion, entries);
  const double relevant = options.relevant.value_or(mean_of(entries.value));
  if (options.test.empty() && entries.size() < options.folds) {
    throw Error(ErrorCode::input, fmt::format("--folds {}: there are only {} entries", options.folds, entries.size()));
  }

  Scores scores;
  Environment environment;  // of the last part
  bool complete = true;
  std::size_t done = 0;
  if (!options.test.empty()) {
    Entries test = read_held_out(options.test, "test", data.table, common);
    complete =
        score_part(options, data, {std::move(entries), std::move(test)}, relevant, scores, environment, watch.hooks());
    done += complete ? 1 : 0;
  } else {
    const std::vector<int> fold = report::draw_folds(entries.row.size(), options.folds, common.fit.run.seed);
    for (int f = 0; f < options.folds && complete; ++f) {
      watch.set_series(fmt::format("fold {} of {}", f + 1, options.folds));
      Part part;
      for (std::size_t e = 0; e < fold.size(); ++e) append(fold[e] == f ? part.test : part.train, entries, e);
      complete = score_part(options, data, part, relevant, scores, environment, watch.hooks());
      done += complete ? 1 : 0;
    }
  }
  watch.end_progress();
  if (!complete) note(common.quiet, fmt::format("interrupted; the scores are those of {} finished parts", done));
  if (done > 0) {
    if (!common.json.empty()) write_output(common.json, to_json(options, data.table.columns, scores, environment));
    if (!common.quiet && common.json != kStdout) {
      write_output(std::string(kStdout), to_text(options, data.table.columns, scores, done));
    }
  }
  watch.end_checkpoint(complete);
  return complete ? 0 : 130;
}

}  // namespace

void add_evaluate(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("evaluate", "errors and list quality of completion, by folds or a test set");
  const auto options = std::make_shared<EvaluateOptions>();
  add_completion_options(*app, options->completion);
  app->remove_option(app->get_option("--model"));  // each fold has its own
  app->remove_option(app->get_option("--model-parts"));
  app->remove_option(app->get_option("--certificate"));
  app->remove_option(app->get_option("--report"));
  app->remove_option(app->get_option("--output"));
  app->add_option_function<std::string>(
         "--folds",
         [options](const std::string& text) {
           options->folds = static_cast<int>(to_integer("--folds", text, 2, 1000));
           options->folds_given = true;
         },
         "how many parts the data are cut into; each is predicted from the others")
      ->type_name("N")
      ->default_str(std::to_string(options->folds))
      ->group("Data");
  app->add_option("--test", options->test, "a fixed test set instead of folds")->type_name("FILE")->group("Data");
  add_integer(*app, "--top", options->top, 1, 1'000'000, "length of the lists that are judged")->group("Data");
  add_number(*app, "--relevant", options->relevant, {-1e300, 1e300, "a number"},
             "a test entry is relevant for a list when its value is at least this")
      ->group("Data");
  show_first(*app, {"--columns", "--missing", "--folds", "--test", "--top", "--relevant", "--radius", "--loss",
                    "--clip", "--gap", "--seed", "--json", "--quiet"});
  app->footer(footer(kEvaluateExamples));
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
