// Ctrl-C asks a run to stop after the current iteration, so that the best iterate can be saved. A second one ends the
// program at once.
#pragma once

#include <atomic>
#include <csignal>

namespace tracenorm::app {

/// Listens while it lives. One inside of another is the same one: what interrupts a run also ends the series of runs
/// it belongs to.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  [[nodiscard]] const std::atomic<bool>* flag() const;

 private:
  bool outermost_;
  struct sigaction former_interrupt_ {};
  struct sigaction former_terminate_ {};
};

}  // namespace tracenorm::app
