// What `complete`, `evaluate`, `denoise` and `links` share around a fit: someone who watches it, and what is written.
#pragma once

#include <memory>
#include <string>

#include "estimation_options.hpp"
#include "interruption.hpp"
#include "report/run_report.hpp"

namespace tracenorm::app {

/// Shows progress on a terminal, and listens to Ctrl-C until everything is saved.
class Watch {
 public:
  explicit Watch(bool quiet);

  [[nodiscard]] RunHooks hooks() const { return {.observer = observer_.get(), .cancel = interruption_.flag()}; }

 private:
  Interruption interruption_;
  std::unique_ptr<Observer> observer_;
};

/// Saves the model, writes JSON, page and summary. Returns the exit code.
int finish(const EstimationOptions& options, report::RunReport& report);

/// Reads held-out entries with the names of the training data. Entries whose row or column is not there are left out
/// and counted; an input error when none is left.
struct TestSet {
  Entries entries;
  Offset unknown = 0;
};
TestSet read_held_out(const std::string& path, std::string_view what, const io::NamedEntries& training,
                      const EstimationOptions& options);

}  // namespace tracenorm::app
