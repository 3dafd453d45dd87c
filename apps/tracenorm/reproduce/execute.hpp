// Runs one planned command and makes of its report what the log keeps.
#pragma once

#include <string>

#include "reproduce/plan.hpp"

namespace tracenorm::app {

enum class Outcome { finished, interrupted, failed };

struct Execution {
  Outcome outcome = Outcome::failed;
  std::string message;  ///< why it failed
  Json record;          ///< for the log
};

class Executor {
 public:
  /// `work` is a folder for files that come and go; `threads` is that of the program.
  Executor(std::string work, int threads) : work_(std::move(work)), threads_(threads) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  /// Removes the work folder.
  ~Executor();

  Execution run(const PlannedRun& run, const ResolvedRun& resolved);

 private:
  /// Makes the data of the run unless the last run had the same.
  void prepare(const ResolvedRun& resolved);

  std::string work_;
  int threads_;
  std::vector<std::string> prepared_;
};

}  // namespace tracenorm::app
