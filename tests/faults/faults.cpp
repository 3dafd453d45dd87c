// A library to preload: writes of files, and starts of threads, fail as a bad day makes them. The environment says how:
//   TRACENORM_FAULT_ENOSPC=N   the N-th write or sync fails, the disk is full; so do all after it
//   TRACENORM_FAULT_SHORT=N    a write takes at most N bytes
//   TRACENORM_FAULT_EINTR=N    every N-th write is interrupted by a signal first
//   TRACENORM_FAULT_THREADS=N  the N-th thread cannot be started, nor any after it
//   TRACENORM_FAULT_LOG=FILE   how many writes and syncs there were
// Only regular files are met: terminals and pipes stay as they are.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

long setting(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : 0;
}

const long enospc = setting("TRACENORM_FAULT_ENOSPC");
const long most = setting("TRACENORM_FAULT_SHORT");
const long eintr = setting("TRACENORM_FAULT_EINTR");
std::atomic<long> calls{0};
std::atomic<long> writes{0};

bool is_file(int descriptor) {
  struct stat about {};
  return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

bool disk_is_full() { return ++calls >= enospc && enospc > 0; }

struct AtEnd {
  AtEnd() = default;
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() {
    if (const char* path = std::getenv("TRACENORM_FAULT_LOG")) {
      if (std::FILE* file = std::fopen(path, "w")) {
        std::fprintf(file, "%ld\n", calls.load());
        std::fclose(file);
      }
    }
  }
} const at_end;

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static const auto real = reinterpret_cast<ssize_t (*)(int, const void*, size_t)>(dlsym(RTLD_NEXT, "write"));
  if (!is_file(descriptor)) return real(descriptor, bytes, count);
  if (disk_is_full()) {
    errno = ENOSPC;
    return -1;
  }
  if (eintr > 0 && ++writes % eintr == 0) {
    errno = EINTR;
    return -1;
  }
  if (most > 0 && count > static_cast<size_t>(most)) count = static_cast<size_t>(most);
  return real(descriptor, bytes, count);
}

int fsync(int descriptor) {
  static const auto real = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "fsync"));
  if (is_file(descriptor) && disk_is_full()) {
    errno = ENOSPC;
    return -1;
  }
  return real(descriptor);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*start)(void*), void* with) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  static const long first_refused = setting("TRACENORM_FAULT_THREADS");  // libraries start theirs before ours is ready
  static std::atomic<long> started{0};
  return first_refused > 0 && ++started >= first_refused ? EAGAIN : real(thread, how, start, with);
}
}
