#include "reproduce/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "tracenorm/error.hpp"

namespace tracenorm::app {

FolderLock::FolderLock(const std::string& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  throw Error(
      ErrorCode::input,
      fmt::format("--out: another reproduction is at work in '{}'; wait for it, or give another folder", folder));
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace tracenorm::app
