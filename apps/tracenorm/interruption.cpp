#include "interruption.hpp"

namespace tracenorm::app {

namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void request(int) { requested.store(true); }

bool listening = false;

}  // namespace

Interruption::Interruption() : outermost_(!listening) {
  if (!outermost_) return;
  listening = true;
  requested.store(false);
  struct sigaction action {};
  action.sa_handler = request;
  sigemptyset(&action.sa_mask);
  // The handler serves once: the next signal finds the default action, which ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, &former_interrupt_);
  sigaction(SIGTERM, &action, &former_terminate_);
}

Interruption::~Interruption() {
  if (!outermost_) return;
  listening = false;
  sigaction(SIGINT, &former_interrupt_, nullptr);
  sigaction(SIGTERM, &former_terminate_, nullptr);
}

const std::atomic<bool>* Interruption::flag() const { return &requested; }

}  // namespace tracenorm::app
