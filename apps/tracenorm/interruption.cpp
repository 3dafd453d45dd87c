#include "interruption.hpp"

namespace tracenorm::app {

namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void request(int) { requested.store(true); }

/// Who started the program may have wished that a signal does nothing: then that stays so.
void listen(int number, const struct sigaction& action, struct sigaction& former) {
  sigaction(number, nullptr, &former);
  if (former.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
  requested.store(false);
  struct sigaction action {};
  action.sa_handler = request;
  sigemptyset(&action.sa_mask);
  // The handler serves once: the next signal finds the default action, which ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  listen(SIGINT, action, former_interrupt_);
  listen(SIGTERM, action, former_terminate_);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &former_interrupt_, nullptr);
  sigaction(SIGTERM, &former_terminate_, nullptr);
}

const std::atomic<bool>* Interruption::flag() { return &requested; }

}  // namespace tracenorm::app
