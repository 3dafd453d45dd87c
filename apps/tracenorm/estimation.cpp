#include "estimation.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "base/topic.hpp"
#include "outputs.hpp"
#include "page/run_page.hpp"
#include "process_ranks.hpp"
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
    } catch (const Error&) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::exception_ptr failure_;
};

/// The answer with the names of its rows and columns.
Model labelled_model(const report::RunReport& report) {
  Model model = report.model();
  model.rows = report.rows;
  model.cols = report.cols;
  return model;
}

void write_results(const EstimationOptions& options, report::RunReport& report,
                   const std::vector<FurtherOutput>& further) {
  OutputAttempts outputs;
  if (options.model_parts > 0 && report.result.status != Status::numerical_failure) {
    outputs.attempt([&] {
      io::write_model_parts(options.model, is_spokesman() ? report::make_model(report) : labelled_model(report),
                            options.model_parts, ranks());
      report.written.push_back(options.model);
    });
  }
  if (!is_spokesman()) return outputs.rethrow();
  // A model that is not made of numbers must not replace a good one.
  if (!options.model.empty() && options.model_parts == 0 && report.result.status != Status::numerical_failure) {
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
  if (!options.output.empty() && report.result.status != Status::numerical_failure) {
    outputs.attempt([&] {
      io::write_matrix(options.output, labelled_model(report));
      report.written.push_back(options.output);
    });
  }
  for (const FurtherOutput& one : further) {
    if (one.path.empty() || report.result.status == Status::numerical_failure) continue;
    outputs.attempt([&] {
      one.write(one.path);
      report.written.push_back(one.path);
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
    tell_user(fmt::format("tracenorm: error: numerical failure: {}\nSee docs: troubleshooting#{}\n", result.message,
                          to_string(result.status)));
  } else if (result.status == Status::interrupted) {
    note(quiet, "interrupted; the results are those of the iterations done so far");
  } else if (exit_code(result, run) == 1) {
    note(quiet, fmt::format("the gap {:g} that was asked for was not reached (certified: {:.3g}); {}", *run.gap,
                            result.relative_gap, remedy(result.status)));
  }
}

}  // namespace

Watch::Watch(const EstimationOptions& options) : checkpoint_(options.checkpoint, options.quiet) {
  if (options.quiet || !is_spokesman()) return;
  bar_ = std::make_unique<report::ProgressBar>(stderr, ::isatty(STDERR_FILENO) != 0 ? terminal_columns() : 0);
}

bool Watch::on_iteration(const Iteration& iteration, const RunOptions& options) {
  if (!interruption_) interruption_.emplace();
  return !bar_ || bar_->on_iteration(iteration, options);
}

void Watch::on_phase(std::string_view what) {
  if (bar_) bar_->on_phase(what);
}

void Watch::set_series(std::string_view what) {
  if (bar_) bar_->set_series(what);
}

int finish(const EstimationOptions& options, report::RunReport& report, Watch& watch,
           const std::vector<FurtherOutput>& further) {
  report.data = options.data;
  watch.end_progress();
  explain(report.result, report.run, options.quiet);
  write_results(options, report, further);
  const int code = exit_code(report.result, report.run);
  watch.end_checkpoint(code == 0 && report.result.status != Status::time_limit);  // time may be given anew
  return code;
}

Entries read_held_out(const std::string& path, std::string_view what, const io::NamedEntries& training,
                      const EstimationOptions& options) {
  io::ReadOptions read = options.read;  // the same columns and marks, whatever the kind of file
  read.format = io::Format::automatic;
  Entries entries = io::read_entries_like(io::data_files({path}), training.row_labels, training.col_labels,
                                          training.rows, training.cols, io::Strangers::keep, read)
                        .entries;
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    if (entries.row[e] >= 0 || entries.col[e] >= 0) return entries;
  }
  throw TopicError(ErrorCode::input, Topic::unknown_names,
                   fmt::format("{}: the {} set has nothing in common with the training data: none of its "
                               "{} entries has a row or a column of it; give entries with the same names",
                               path, what, entries.size()));
}

Entries read_validation(const std::string& path, const io::NamedEntries& training, const EstimationOptions& options) {
  const Entries all = read_held_out(path, "validation", training, options);
  Entries known;
  for (std::size_t e = 0; e < all.row.size(); ++e) {
    if (all.row[e] < 0 || all.col[e] < 0) continue;
    known.row.push_back(all.row[e]);
    known.col.push_back(all.col[e]);
    known.value.push_back(all.value[e]);
  }
  if (known.size() == 0) {
    throw TopicError(ErrorCode::input, Topic::unknown_names,
                     fmt::format("{}: the validation set is empty: none of its {} entries has a row and a "
                                 "column of the training data; give entries with the same names",
                                 path, all.size()));
  }
  if (known.size() < all.size()) {
    note(options.quiet, fmt::format("{}: {} of {} validation entries left out: their row or column is not in the "
                                    "training data, so that they say nothing about which iterate is best",
                                    path, all.size() - known.size(), all.size()));
  }
  return known;
}

HeldOut judge_on(const Fit& fit, const Entries& test) {
  const Model model = fit.model();
  HeldOut errors = judge(model.factors, fit.problem.loss, model.preparation, test);
  const Counts counts = count_observed(fit.problem.observations);
  const auto none = [](const std::vector<Offset>& count, Index at) {
    return at < 0 || count[static_cast<std::size_t>(at)] == 0;
  };
  errors.unknown = 0;
  for (std::size_t e = 0; e < test.row.size(); ++e) {
    errors.unknown += none(counts.row, test.row[e]) || none(counts.col, test.col[e]) ? 1 : 0;
  }
  return errors;
}

}  // namespace tracenorm::app
