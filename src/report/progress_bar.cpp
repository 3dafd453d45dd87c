#include "report/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tracenorm::report {

namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr int kBarCells = 20;

/// The share of the run that is done: of its iterations or of its time, whichever limit is nearer.
double share_done(const Iteration& iteration, const RunOptions& options) {
  double share = static_cast<double>(iteration.k) / std::max(1, options.iterations);
  if (options.seconds) share = std::max(share, iteration.seconds / *options.seconds);
  return std::clamp(share, 0.0, 1.0);
}

std::string bar(double share) {
  const auto full = static_cast<int>(std::lround(share * kBarCells));
  return fmt::format("[{:#<{}}{:-<{}}]", "", full, "", kBarCells - full);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string remaining(const Iteration& iteration, double share) {
  // The first iterations are not typical (empty factors, cold caches), so wait a little before promising anything.
  if (iteration.k < 3 || share <= 0) return "";
  return fmt::format("  {} left", clock_text(iteration.seconds * (1 - share) / share));
}

std::string gap_text(const Iteration& iteration) {
  return std::isfinite(iteration.relative_gap) ? fmt::format("{:.3g} %", 100 * iteration.relative_gap) : "-";
}

}  // namespace

std::string progress_line(const Iteration& iteration, const RunOptions& options, int columns) {
  const double share = share_done(iteration, options);
  std::string line =
      fmt::format("{} {}/{}  objective {:.5g}  gap {}  rank {}{}", bar(share), iteration.k, options.iterations,
                  iteration.objective, gap_text(iteration), iteration.rank, remaining(iteration, share));
  // A line that wraps could not be wiped, and the last column belongs to the cursor.
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(1, columns - 1))));
  return line;
}

bool ProgressBar::on_iteration(const Iteration& iteration, const RunOptions& options) {
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return true;
  next_draw_ = now + kRedraw;
  drawn_ = true;
  // Carriage return, the line, and "erase to the end of the line".
  fmt::print(terminal_, "\r{}\x1b[K", progress_line(iteration, options, columns_));
  std::fflush(terminal_);
  return true;
}

ProgressBar::~ProgressBar() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", terminal_);
  std::fflush(terminal_);
}

}  // namespace tracenorm::report
