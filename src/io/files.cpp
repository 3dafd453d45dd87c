#include "io/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "io/messages.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Writing "through" a link must change the file the link points to, not the link.
std::string follow_links(const std::string& path) {
  constexpr int most_links = 40;  // as many as the system follows
  std::filesystem::path at(path);
  std::error_code error;
  for (int links = 0; links < most_links && std::filesystem::is_symlink(at, error); ++links) {
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) return path;
    at = at.parent_path() / target;  // which is the target where that is absolute
  }
  return at.string();
}

constexpr std::size_t longest_stem = 180;

std::string unique_name_beside(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path path(target);
  // A long file name with the suffix added could exceed what the file system takes.
  const std::string stem = path.filename().string().substr(0, longest_stem);
  const std::string name = fmt::format(".{}.{}-{}.tmp", stem, getpid(), counter++);
  return (path.parent_path() / name).string();
}

// Makes the rename itself durable. Some file systems cannot do that: the file is whole in either case.
void sync_folder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(follow_links(path)) {
  struct stat old {};
  const bool exists = stat(target_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode))
    fail_about(Topic::writing, "cannot write '{}': it is a folder; give the name of a file", path_);
  if (exists && !S_ISREG(old.st_mode)) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_writing(errno);
    return;
  }
  do {
    temporary_ = unique_name_beside(target_);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail_writing(errno);
  }
  if (exists) (void)!fchmod(descriptor_, old.st_mode & 07777U);  // at best: the new file opens for whom the old one did
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::fail_writing(int error) const {
  const std::string folder = folder_of(target_);
  std::error_code ignored;
  if (error == ENOENT && !std::filesystem::exists(folder, ignored))
    fail_about(Topic::writing, "cannot write '{}': the folder '{}' does not exist", path_, folder);
  fail_about(Topic::writing, "cannot write '{}': {}", path_, std::strerror(error));
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_writing(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  // Pipes, devices and some network file systems cannot sync; that is no reason to refuse the data.
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) fail_writing(errno);
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (close(descriptor) != 0 && errno != EINTR) fail_writing(errno);
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(errno);
  temporary_.clear();
  sync_folder(folder_of(target_));
}

void remove_abandoned(const std::string& path) {
  const std::filesystem::path target(follow_links(path));
  const std::string before = fmt::format(".{}.", target.filename().string().substr(0, longest_stem));
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder_of(target.string()), error)) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with(before) || !name.ends_with(".tmp")) continue;
    const int process = std::atoi(name.c_str() + before.size());
    if (process > 0 && kill(process, 0) != 0 && errno == ESRCH) unlink(file.path().c_str());
  }
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace tracenorm::io
