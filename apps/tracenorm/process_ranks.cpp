#include "process_ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/execution.hpp"
#include "tracenorm/mpi.hpp"

namespace tracenorm::app {

namespace {

int own_stderr = -1;  // of a rank that does not speak

/// Machines differ: a file may be missing on one of them.
void say_where() {
  std::array<char, 256> host{};
  if (ranks()->neighbours() == ranks()->size() || ::gethostname(host.data(), host.size() - 1) != 0) return;
  std::fprintf(stderr, "On %s, rank %d of %d.\n", host.data(), ranks()->rank(), ranks()->size());
}

/// What this rank has kept to itself.
void speak() {
  if (own_stderr < 0) return;
  std::fflush(stderr);
  ::lseek(STDERR_FILENO, 0, SEEK_SET);
  std::array<char, 4096> text{};
  for (ssize_t count = 0; (count = ::read(STDERR_FILENO, text.data(), text.size())) > 0;) {
    if (::write(own_stderr, text.data(), static_cast<std::size_t>(count)) < 0) return;
  }
}

}  // namespace

Ranks* ranks() { return mpi_ranks(); }

bool is_spokesman() { return ranks() == nullptr || ranks()->is_first(); }

int own_threads(int wanted) {
  if (ranks() == nullptr || wanted > 0) return wanted;
  return std::max(1, Execution(0).threads() / ranks()->neighbours());
}

void join_ranks() {
  if (is_spokesman()) return;
  own_stderr = ::dup(STDERR_FILENO);
  std::FILE* kept = std::tmpfile();
  if (kept != nullptr) ::dup2(::fileno(kept), STDERR_FILENO);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) ::close(STDOUT_FILENO);
}

int end_after_error(int code) {
  if (!why_no_mpi().empty() || ranks() == nullptr || all_failed(*ranks())) return code;
  say_where();
  speak();
  end_all_ranks(code);
}

}  // namespace tracenorm::app
