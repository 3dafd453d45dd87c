#include "estimation.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/random.hpp"
#include "entry_check.hpp"
#include "interruption.hpp"
#include "outputs.hpp"
#include "page/run_page.hpp"
#include "report/progress_bar.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/radius_path.hpp"

namespace tracenorm::app {

namespace {

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::unique_ptr<Observer> make_observer(bool quiet) {
  if (quiet || ::isatty(STDERR_FILENO) == 0) return nullptr;
  return std::make_unique<report::ProgressBar>(stderr, terminal_columns());
}

/// Tries every output even when one fails, so that a full disk does not also cost the summary; then reports the first
/// failure.
class OutputAttempts {
 public:
  template <class Work>
  void attempt(Work&& work) {
    try {
      work();
    } catch (const Error& error) {
      if (!failure_) failure_ = error;
    }
  }
  void rethrow() const {
    if (failure_) throw *failure_;
  }

 private:
  std::optional<Error> failure_;
};

void write_results(const EstimationOptions& options, const Estimation& estimation, report::RunReport& report) {
  OutputAttempts outputs;
  // A model that is not made of numbers must not replace a good one.
  if (!options.model.empty() && report.result.status != Status::numerical_failure) {
    outputs.attempt([&] {
      io::write_model(options.model, make_model(report, estimation));
      report.written.push_back(options.model);
    });
  }
  if (!options.json.empty()) {
    outputs.attempt([&] {
      write_output(options.json, report::to_json(report));
      report.written.push_back(options.json);
    });
  }
  if (!options.report.empty()) {
    outputs.attempt([&] {
      write_output(options.report, run_page(report, estimation));
      report.written.push_back(options.report);
    });
  }
  if (!options.quiet && options.json != kStdout) {
    outputs.attempt([&] { write_output(std::string(kStdout), report::to_text(report)); });
  }
  outputs.rethrow();
}

/// Finished as asked: 0. Stopped by a limit before a gap that was asked for: 1.
int exit_code(const Result& result, const RunOptions& run) {
  switch (result.status) {
    case Status::interrupted:
      return 130;
    case Status::numerical_failure:
      return static_cast<int>(ErrorCode::numerical);
    case Status::gap_reached:
    case Status::optimal:
      return 0;
    default:
      return run.gap && !(result.relative_gap <= *run.gap) ? 1 : 0;
  }
}

std::string_view remedy(Status status) {
  return status == Status::converged ? "lower --tolerance" : "allow more --iterations or --time";
}

void explain(const Result& result, const RunOptions& run, bool quiet) {
  if (result.status == Status::numerical_failure) {
    fmt::print(stderr, "tracenorm: error: numerical failure: {}\n", result.message);
  } else if (result.status == Status::interrupted) {
    note(quiet, "interrupted; the results are those of the iterations done so far");
  } else if (exit_code(result, run) == 1) {
    note(quiet, fmt::format("the gap {:g} that was asked for was not reached (certified: {:.3g}); {}", *run.gap,
                            result.relative_gap, remedy(result.status)));
  }
}

/// Chooses the radius (and the penalty) and puts them into the problem. Returns whether the answer is already there:
/// the best iterate on validation entries that the user gave, or what there was when the path was interrupted.
bool choose(const EstimationOptions& options, Estimation& estimation, RunHooks& hooks, report::RunReport& report) {
  Problem& judged = estimation.choosing ? estimation.choosing->problem : estimation.problem;
  RunOptions run = report.run;
  RunHooks judging = hooks;
  if (estimation.choosing) {  // a part of the data, outliers included
    judging.validation = &estimation.choosing->validation;
    run.validation_measure = ValidationMeasure::loss;
  }
  RadiusPath path = options.chooses_l1 ? choose_radius_and_penalty(judged, report.method, run, judging)
                                       : choose_radius(judged, report.method, run, judging);
  if (estimation.choosing) {
    std::get<TraceNormBall>(estimation.problem.constraint).radius = path.radius();
    estimation.problem.penalty = judged.penalty;
  }
  report.path = path.steps;
  report.path_best = path.best;
  const bool interrupted = path.result.status == Status::interrupted;
  const bool certified = report.run.gap || std::holds_alternative<methods::Corrective>(report.method);
  const bool solved = interrupted || (!estimation.choosing && !certified);
  report.result = std::move(path.result);
  if (!solved) {  // from where the path stood, on all the data or to the gap that was asked for
    report.start = report.result.solution;
    hooks.start = &report.start;
  } else if (estimation.choosing) {  // interrupted: the bounds were those of the smaller problem
    report.result.objective = objective(estimation.problem, report.result.solution);
    report.result.lower_bound = -std::numeric_limits<double>::infinity();
    report.result.relative_gap = std::numeric_limits<double>::infinity();
    report.result.certificate = {};
  }
  return solved;
}

}  // namespace

Choosing hold_out(const Problem& problem, std::uint64_t seed) {
  constexpr double kShare = 0.1;
  Choosing choosing{problem, {}};
  auto& data = std::get<DenseObservations>(choosing.problem.observations);
  std::vector<Real> values(data.value.begin(), data.value.end());
  Random random(seed ^ 0x2545f4914f6cdd1dULL);
  const bool square = data.rows == data.cols;
  const auto take = [&](Index i, Index j) {
    Real& value =
        values[static_cast<std::size_t>(i) * static_cast<std::size_t>(data.cols) + static_cast<std::size_t>(j)];
    if (std::isnan(value)) return;
    choosing.validation.row.push_back(i);
    choosing.validation.col.push_back(j);
    choosing.validation.value.push_back(value);
    value = std::numeric_limits<Real>::quiet_NaN();
  };
  for (Index i = 0; i < data.rows; ++i) {
    for (Index j = square ? i : 0; j < data.cols; ++j) {
      if (random.uniform() >= kShare) continue;
      take(i, j);
      if (square && i != j) take(j, i);
    }
  }
  data.value = std::move(values);
  if (choosing.validation.size() == 0 || observed(choosing.problem.observations) == 0) {
    throw Error(ErrorCode::input, "--radius auto: too few entries to hold some out; give a radius");
  }
  return choosing;
}

report::RunReport solve_estimation(const EstimationOptions& options, Estimation& estimation,
                                   const std::atomic<bool>* cancel) {
  check_entries(estimation.problem, estimation.rows, estimation.cols, options.data);
  report::RunReport report;
  report.command = estimation.command;
  report.data = options.data;
  report.columns = estimation.columns;
  report.problem = &estimation.problem;
  report.preparation = estimation.preparation;
  report.norm_weights = options.norm_weights;
  report.method = options.method.make(options.run.gap.has_value());
  report.run = options.run;
  report.options = estimation.options;

  Entries validation = estimation.validation;
  prepare(estimation.preparation, validation);
  if (wants_labels(estimation.problem.loss)) report.run.validation_measure = ValidationMeasure::loss;

  const std::unique_ptr<Observer> observer = make_observer(options.quiet);
  RunHooks hooks{.observer = observer.get(), .cancel = cancel};
  if (validation.size() > 0) hooks.validation = &validation;
  bool solved = false;
  if (options.chooses_radius()) solved = choose(options, estimation, hooks, report);
  if (!solved) {
    report.result = solve(estimation.problem, report.method, after(report.run, report.path), hooks);
  }

  const LowRankMatrix& x = report.result.solution;
  if (validation.size() > 0) {
    report.validation = judge(x, estimation.problem.loss, estimation.preparation, estimation.validation);
  }
  if (estimation.test) report.test = estimation.test(x);
  return report;
}

Model make_model(const report::RunReport& report, const Estimation& estimation) {
  Model model;
  model.factors = report.result.solution;
  model.rows = estimation.rows;
  model.cols = estimation.cols;
  model.preparation = estimation.preparation;
  model.metadata = report::model_metadata(report);
  return model;
}

int estimate(const EstimationOptions& options, Estimation& estimation) {
  const Interruption interruption;  // lives until everything is saved
  report::RunReport report = solve_estimation(options, estimation, interruption.flag());
  explain(report.result, report.run, options.quiet);
  write_results(options, estimation, report);
  return exit_code(report.result, report.run);
}

report::HeldOut judge(const LowRankMatrix& x, const Loss& loss, const Preparation& preparation, const Entries& raw) {
  return wants_labels(loss) ? report::ranking_quality(x, raw) : report::regression_errors(x, preparation, raw);
}

TestSet read_held_out(const std::string& path, std::string_view what, const io::NamedEntries& training,
                      const EstimationOptions& options) {
  TestSet held_out;
  io::ReadOptions read = options.read;  // the same columns and marks, whatever the kind of file
  read.format = io::Format::automatic;
  io::NamedEntries table = io::read_entries_like(path, training.row_labels, training.col_labels, training.rows,
                                                 training.cols, false, &held_out.unknown, read);
  held_out.entries = std::move(table.entries);
  const Offset known = held_out.entries.size();
  if (known == 0) {
    throw Error(ErrorCode::input, fmt::format("{}: the {} set is empty: none of its {} entries has a row and a column "
                                              "of the training data; give entries with the same names",
                                              path, what, held_out.unknown));
  }
  if (held_out.unknown > 0) {
    note(options.quiet, fmt::format("{}: {} of {} {} entries left out: their row or column is not in the training data",
                                    path, held_out.unknown, held_out.unknown + known, what));
  }
  return held_out;
}

}  // namespace tracenorm::app
