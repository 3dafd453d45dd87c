#include "estimation.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "entry_check.hpp"
#include "interruption.hpp"
#include "outputs.hpp"
#include "report/progress_bar.hpp"
#include "tracenorm/io.hpp"

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

Result solve_watched(const Problem& problem, const Method& method, RunOptions run, bool quiet) {
  const std::unique_ptr<Observer> observer = make_observer(quiet);
  run.observer = observer.get();
  return solve(problem, method, run);
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

}  // namespace

int estimate(const EstimationOptions& options, const Estimation& estimation) {
  check_entries(estimation.problem, estimation.rows, estimation.cols, options.data);
  report::RunReport report;
  report.command = estimation.command;
  report.data = options.data;
  report.problem = &estimation.problem;
  report.preparation = estimation.preparation;
  report.method = options.method.make();
  report.run = options.run;
  report.options = estimation.options;

  Entries validation = estimation.validation;
  prepare(estimation.preparation, validation.value);
  if (validation.size() > 0) report.run.validation = &validation;

  const Interruption interruption;  // lives until everything is saved
  report.run.cancel = interruption.flag();
  report.result = solve_watched(estimation.problem, report.method, report.run, options.quiet);

  const LowRankMatrix& x = report.result.solution;
  if (validation.size() > 0) {
    report.validation = judge(x, estimation.problem.loss, estimation.preparation, estimation.validation);
  }
  if (estimation.test) report.test = estimation.test(x);
  explain(report.result, report.run, options.quiet);
  write_results(options, estimation, report);
  return exit_code(report.result, report.run);
}

report::HeldOut judge(const LowRankMatrix& x, const Loss& loss, const Preparation& preparation, const Entries& raw) {
  return wants_labels(loss) ? report::ranking_quality(x, raw) : report::regression_errors(x, preparation, raw);
}

TestSet read_test(const std::string& path, const Estimation& training, const EstimationOptions& options) {
  TestSet test;
  const Observations& data = training.problem.observations;
  io::Table table = read_data([&] {
    return io::read_table_like(path, training.rows, training.cols, rows(data), cols(data), false, &test.unknown,
                               {io::Format::automatic, options.read.duplicates});
  });
  test.entries = std::move(table.entries);
  if (test.entries.size() == 0) {
    throw Error(ErrorCode::input,
                fmt::format("{}: the test set is empty: none of its {} entries has a row and a column "
                            "of the training data; give entries with the same names",
                            path, test.unknown));
  }
  if (test.unknown > 0) {
    note(options.quiet, fmt::format("{}: {} of {} test entries left out: their row or column is not in the training "
                                    "data",
                                    path, test.unknown, test.unknown + test.entries.size()));
  }
  return test;
}

}  // namespace tracenorm::app
