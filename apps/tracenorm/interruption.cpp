#include "interruption.hpp"

#include "process_ranks.hpp"

namespace tracenorm::app {

namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

/// A batch system may tell every rank and mpirun as well, which tells them once more: there the second one means
/// nothing. mpirun itself ends those that take too long.
bool among_ranks = false;

/// The second one, whichever it is, finds the default action, which ends the program.
void request(int number) {
  if (!requested.exchange(true) || number == SIGUSR1 || among_ranks) return;
  struct sigaction otherwise {};
  otherwise.sa_handler = SIG_DFL;
  sigaction(number, &otherwise, nullptr);
  raise(number);
}

/// Who started the program may have wished that a signal does nothing: then that stays so.
void listen(int number, const struct sigaction& action, struct sigaction& former) {
  sigaction(number, nullptr, &former);
  if (former.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
  requested.store(false);
  among_ranks = ranks() != nullptr;
  struct sigaction action {};
  action.sa_handler = request;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (std::size_t k = 0; k < kSignals.size(); ++k) listen(kSignals[k], action, former_[k]);
  // Who read the progress may leave: results are written all the same.
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &former_pipe_);
}

Interruption::~Interruption() {
  for (std::size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &former_[k], nullptr);
  sigaction(SIGPIPE, &former_pipe_, nullptr);
}

const std::atomic<bool>* Interruption::flag() { return &requested; }

}  // namespace tracenorm::app
