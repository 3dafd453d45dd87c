// Says what begins, to whoever listens, and keeps what it cost.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "tracenorm/fit.hpp"

namespace tracenorm {

inline void tell(const RunHooks& hooks, std::string_view what) {
  if (hooks.observer != nullptr) hooks.observer->on_phase(what);
}

/// Measures what lies between two calls. One phase that comes again is one line.
class PhaseClock {
 public:
  explicit PhaseClock(std::vector<PhaseCost>& costs) : costs_(costs) {}

  void end(std::string phase, double passes = 0) {
    const auto now = std::chrono::steady_clock::now();
    add(std::move(phase), std::chrono::duration<double>(now - last_).count(), passes);
    last_ = now;
  }
  /// A solve: the answer of a run, with what belongs to its parts. What was done before it (and is not in its seconds)
  /// are iterations too.
  void end(const Result& result) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    const Counters& counters = result.counters;
    add("iterations", seconds - result.certificate_seconds - result.answer_seconds,
        counters.passes - counters.certificate_passes);
    add("certificate", result.certificate_seconds, counters.certificate_passes);
    add("answer", result.answer_seconds, 0);
    last_ = now;
  }

 private:
  void add(std::string phase, double seconds, double passes) {
    for (PhaseCost& cost : costs_) {
      if (cost.phase != phase) continue;
      cost.seconds += seconds;
      cost.passes += passes;
      cost.peak_bytes = peak_memory();
      return;
    }
    costs_.push_back({std::move(phase), seconds, passes, peak_memory()});
  }

  std::vector<PhaseCost>& costs_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Passes of all steps.
inline double passes_of(const std::vector<RadiusStep>& steps) {
  double passes = 0;
  for (const RadiusStep& step : steps) passes += step.passes;
  return passes;
}

}  // namespace tracenorm
