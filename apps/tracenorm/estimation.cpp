#include "estimation.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "outputs.hpp"
#include "page/run_page.hpp"
#include "report/progress_bar.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
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

void write_results(const EstimationOptions& options, report::RunReport& report) {
  OutputAttempts outputs;
  // A model that is not made of numbers must not replace a good one.
  if (!options.model.empty() && report.result.status != Status::numerical_failure) {
    outputs.attempt([&] {
      io::write_model(options.model, report::make_model(report));
      report.written.push_back(options.model);
    });
  }
  if (!options.certificate.empty() && report.result.status != Status::numerical_failure) {
    outputs.attempt([&] {
      Claim claim = claim_of(report.problem, report.preparation, report.result);
      claim.kind = report.kind;
      claim.replaced = report.replaced;
      io::write_certificate(options.certificate, claim);
      report.written.push_back(options.certificate);
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
      write_output(options.report, run_page(report));
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

}  // namespace

Watch::Watch(bool quiet) {
  if (quiet || ::isatty(STDERR_FILENO) == 0) return;
  observer_ = std::make_unique<report::ProgressBar>(stderr, terminal_columns());
}

int finish(const EstimationOptions& options, report::RunReport& report) {
  report.data = options.data;
  explain(report.result, report.run, options.quiet);
  write_results(options, report);
  return exit_code(report.result, report.run);
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
