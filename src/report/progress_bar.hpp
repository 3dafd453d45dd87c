// A line on a terminal that follows a run.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "tracenorm/run.hpp"

namespace tracenorm::report {

/// "[#####-----] 120/500  objective 1.234e+04  gap 3.2 %  rank 57  0:12 left", cut to `columns`.
std::string progress_line(const Iteration& iteration, const RunOptions& options, int columns);

/// Redraws that line at most ten times a second, and wipes it when the run is over.
class ProgressBar final : public Observer {
 public:
  ProgressBar(std::FILE* terminal, int columns) : terminal_(terminal), columns_(columns) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() override;

  bool on_iteration(const Iteration& iteration, const RunOptions& options) override;

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* terminal_;
  int columns_;
  Clock::time_point next_draw_{};
  bool drawn_ = false;
};

}  // namespace tracenorm::report
