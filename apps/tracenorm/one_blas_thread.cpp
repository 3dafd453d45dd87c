// OpenBLAS starts a thread for every further processor while it is loaded, before `main`. Where the system gives none
// it ends the program, and where it gives a thread but no memory (128 MB for each) that thread asks for ever, and the
// program cannot end. It reads its environment variable at that time, so to set it here would be too late; but it
// counts the processors of the process, and the functions of .preinit_array run before any library's.
#include "one_blas_thread.hpp"

#ifdef __linux__
#include <sched.h>
#endif

namespace tracenorm::app {

#ifdef __linux__
namespace {

cpu_set_t processors;
bool hidden = false;

// Sanitizers are not there yet.
__attribute__((no_sanitize("address", "undefined", "thread"))) void hide_processors(int /*argc*/, char** /*argv*/,
                                                                                    char** /*environment*/) {
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &processors)) continue;
    CPU_SET(processor, &one);
    break;
  }
  hidden = sched_setaffinity(0, sizeof one, &one) == 0;
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)(int, char**, char**) = hide_processors;

}  // namespace
#endif

void show_processors() {
#ifdef __linux__
  if (hidden) sched_setaffinity(0, sizeof processors, &processors);
#endif
}

}  // namespace tracenorm::app
