// What `complete`, `evaluate`, `denoise`, `covariance` and `links` share around a fit: someone who watches it, and what
// is written.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimation_options.hpp"
#include "interruption.hpp"
#include "process_ranks.hpp"
#include "report/progress_bar.hpp"
#include "report/run_report.hpp"

namespace tracenorm::app {

/// Shows progress, and from the first iteration on listens to Ctrl-C until everything is saved. Before that there is
/// nothing to save, and Ctrl-C ends the program.
class Watch final : public Observer {
 public:
  explicit Watch(const EstimationOptions& options);

  bool on_iteration(const Iteration& iteration, const RunOptions& options) override;
  void on_phase(std::string_view what) override;
  /// What the phases to come belong to: "fold 2 of 5".
  void set_series(std::string_view what);

  [[nodiscard]] RunHooks hooks() {
    RunHooks hooks;
    hooks.observer = this;
    hooks.cancel = Interruption::flag();
    hooks.checkpoints = checkpoint_.get();
    hooks.ranks = ranks();
    return hooks;
  }
  /// Before anything else is printed.
  void end_progress() { bar_.reset(); }
  /// After everything is written.
  void end_checkpoint(bool done) { checkpoint_.end(done); }

 private:
  std::optional<Interruption> interruption_;
  std::unique_ptr<report::ProgressBar> bar_;
  RunCheckpoint checkpoint_;
};

/// What a command writes besides. An empty path: it was not asked for.
struct FurtherOutput {
  std::string path{};
  std::function<void(const std::string& path)> write{};
};

/// Saves the model, writes what there is besides, JSON, page and summary. Returns the exit code.
int finish(const EstimationOptions& options, report::RunReport& report, Watch& watch,
           const std::vector<FurtherOutput>& further = {});

/// Reads held-out entries with the names of the training data; `Preparation::kUnknown` is a row or column that is not
/// there. An input error when that is so for all of them.
Entries read_held_out(const std::string& path, std::string_view what, const io::NamedEntries& training,
                      const EstimationOptions& options);

/// The same without those that have an unknown row or column, and a note of how many these were.
Entries read_validation(const std::string& path, const io::NamedEntries& training, const EstimationOptions& options);

/// Judges the answer on entries, and counts those whose row or column had no training data.
HeldOut judge_on(const Fit& fit, const Entries& test);

}  // namespace tracenorm::app
