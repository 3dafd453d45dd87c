#include "report/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tracenorm::report {

namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kTick = std::chrono::milliseconds(500);
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

/// Longer than any line.
constexpr int kUncut = 1 << 20;

/// A line that wraps could not be wiped, and the last column belongs to the cursor.
std::string cut(std::string line, int columns) {
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(1, columns - 1))));
  return line;
}

}  // namespace

std::string progress_line(const Iteration& iteration, const RunOptions& options, int columns) {
  const double share = share_done(iteration, options);
  std::string line =
      fmt::format("{} {}/{}  objective {:.5g}  gap {}  rank {}{}", bar(share), iteration.k, options.iterations,
                  iteration.objective, gap_text(iteration), iteration.rank, remaining(iteration, share));
  return cut(std::move(line), columns);
}

ProgressBar::ProgressBar(std::FILE* out, int columns, std::chrono::milliseconds every) : out_(out), columns_(columns) {
  ticker_.emplace(columns > 0 ? kTick : every, [this] { tick(); });
}

bool ProgressBar::on_iteration(const Iteration& iteration, const RunOptions& options) {
  const std::lock_guard lock(mutex_);
  last_ = Last{iteration, options};
  if (columns_ > 0) draw();
  return true;
}

void ProgressBar::on_phase(std::string_view what) {
  const std::lock_guard lock(mutex_);
  phase_ = what;
  began_ = Clock::now();
  last_.reset();
  if (columns_ > 0) draw();
  next_draw_ = {};  // the first iteration shows itself, however soon it comes
}

void ProgressBar::set_series(std::string_view what) {
  const std::lock_guard lock(mutex_);
  series_ = what;
}

/// "fold 2 of 5, radius 3 of about 9  [###...", or how long the phase has taken so far.
std::string ProgressBar::text() const {
  std::string line = series_;
  if (!phase_.empty()) line += (line.empty() ? "" : ", ") + phase_;
  if (!line.empty()) line += "  ";
  if (last_) return line + progress_line(last_->iteration, last_->options, kUncut);
  return line + clock_text(std::floor(std::chrono::duration<double>(Clock::now() - began_).count()));
}

void ProgressBar::draw() {
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + kRedraw;
  drawn_ = true;
  // Carriage return, the line, and "erase to the end of the line".
  std::fputs(fmt::format("\r{}\x1b[K", cut(text(), columns_)).c_str(), out_);
  std::fflush(out_);
}

void ProgressBar::tick() {
  const std::lock_guard lock(mutex_);
  if (columns_ > 0) return draw();
  if (phase_.empty() && !last_) return;  // nothing has begun
  // A terminal that is gone is no reason to end a run, so that errors do not matter (fmt::print would throw).
  std::fputs(fmt::format("tracenorm: {}\n", text()).c_str(), out_);
  std::fflush(out_);
}

ProgressBar::~ProgressBar() {
  ticker_.reset();
  if (!drawn_) return;
  std::fputs("\r\x1b[K", out_);
  std::fflush(out_);
}

}  // namespace tracenorm::report
