// The program: runs its command line, and turns what went wrong into one line on standard error and an exit code.
#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "command_line.hpp"
#include "commands.hpp"
#include "memory.hpp"
#include "one_blas_thread.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"
#include "tracenorm/error.hpp"
#include "troubleshooting.hpp"

int main(int argc, char** argv) {
  using namespace tracenorm;
  app::show_processors();
  // A file that grows beyond a limit must be an error of the write, with a message, not the death of the program.
  std::signal(SIGXFSZ, SIG_IGN);
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 22);  // entry-sized arrays go back to the system when they are freed
#endif
  int code = 0;
  try {
    app::join_ranks();
    code = app::run_program({argv + std::min(argc, 1), argv + argc});
  } catch (const Error& error) {
    code = app::complain(app::message_of(error), error.code(), app::troubleshooting_anchor(error));
  } catch (const std::bad_alloc&) {
    const std::size_t bytes = app::refused_bytes();
    const std::string wanted = bytes > 0 ? fmt::format(": {} bytes more were wanted", bytes) : "";
    // At once: without memory, threads of other libraries have been seen to hold up the end for ever.
    std::_Exit(app::end_after_error(
        app::complain(fmt::format("not enough memory for this problem{}", wanted), ErrorCode::input, app::kMemory)));
  } catch (const std::exception& error) {
    code = app::complain(error.what(), ErrorCode::numerical, app::troubleshooting_anchor(ErrorCode::numerical));
  }
  return app::complained() ? app::end_after_error(code) : code;
}
