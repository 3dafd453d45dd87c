// Ctrl-C asks a run to stop after the current iteration, so that the best iterate can be saved. A second one ends the
// program at once. Signals that the program was started to ignore (a shell's background job) stay ignored.
#pragma once

#include <atomic>
#include <csignal>

namespace tracenorm::app {

/// Listens while it lives.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  [[nodiscard]] static const std::atomic<bool>* flag();

 private:
  struct sigaction former_interrupt_ {};
  struct sigaction former_terminate_ {};
};

}  // namespace tracenorm::app
