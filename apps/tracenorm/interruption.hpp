// Ctrl-C asks a run to stop after the current iteration, so that the best iterate can be saved; so do SIGTERM, a
// terminal that is gone, and SIGUSR1, by which batch systems warn. A second signal (but SIGUSR1) ends the program at
// once. Those that the program was started to ignore (a shell's background job, nohup) stay ignored.
#pragma once

#include <array>
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
  static constexpr std::array<int, 4> kSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1};
  std::array<struct sigaction, kSignals.size()> former_{};
  struct sigaction former_pipe_ {};
};

}  // namespace tracenorm::app
