// What a person sees while a run goes on: a line on a terminal that is drawn again and again, or now and then a line in
// a file.
#pragma once

#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/ticker.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm::report {

/// "[#####-----] 120/500  objective 1.234e+04  gap 3.2 %  rank 57  0:12 left", cut to `columns`.
std::string progress_line(const Iteration& iteration, const RunOptions& options, int columns);

/// Knows what goes on: the series ("fold 2 of 5"), the phase ("reading ratings.csv", "radius 3 of about 9"), and the
/// last iteration of the phase if there was one. Draws it at most ten times a second, also where nothing happens for a
/// while, and wipes it at the end.
class ProgressBar final : public Observer {
 public:
  /// Columns of a terminal; 0: no terminal, a line is written `every` so often.
  ProgressBar(std::FILE* out, int columns, std::chrono::milliseconds every = std::chrono::seconds(10));
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() override;

  bool on_iteration(const Iteration& iteration, const RunOptions& options) override;
  void on_phase(std::string_view what) override;
  void set_series(std::string_view what);

 private:
  using Clock = std::chrono::steady_clock;
  struct Last {
    Iteration iteration;
    RunOptions options;
  };

  void draw();
  void tick();
  [[nodiscard]] std::string text() const;

  std::FILE* out_;
  int columns_;
  std::mutex mutex_;  // of everything below: the ticker has a thread of its own
  std::string series_;
  std::string phase_;
  Clock::time_point began_ = Clock::now();
  std::optional<Last> last_;
  Clock::time_point next_draw_{};
  bool drawn_ = false;
  std::optional<Ticker> ticker_;
};

}  // namespace tracenorm::report
