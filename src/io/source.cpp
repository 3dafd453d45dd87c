#include "io/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "io/compression.hpp"
#include "io/messages.hpp"

namespace tracenorm::io {
namespace {

class File {
 public:
  explicit File(const std::string& path) : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail("cannot read '{}': {}", path_, std::strerror(errno));
    if (fstat(descriptor_, &status_) != 0) {
      const int error = errno;
      close(descriptor_);
      fail("cannot read '{}': {}", path_, std::strerror(error));
    }
    if (S_ISDIR(status_.st_mode)) {
      close(descriptor_);
      fail("cannot read '{}': it is a folder; give the name of a file", path_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(descriptor_); }

  [[nodiscard]] std::optional<std::uint64_t> size() const {
    if (!S_ISREG(status_.st_mode)) return std::nullopt;
    return static_cast<std::uint64_t>(status_.st_size);
  }

  std::size_t read(char* into, std::size_t size) {
    while (true) {
      const ssize_t got = ::read(descriptor_, into, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail("cannot read '{}': {}", path_, std::strerror(errno));
    }
  }

 private:
  std::string path_;
  int descriptor_;
  struct stat status_ {};
};

std::string lower_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c); });
  return name;
}

}  // namespace

std::size_t ByteSource::read(char* into, std::size_t size) {
  std::size_t filled = std::min(size, ahead_.size() - ahead_used_);
  if (filled > 0) std::memcpy(into, ahead_.data() + ahead_used_, filled);
  ahead_used_ += filled;
  while (filled < size) {
    const std::size_t got = read_(into + filled, size - filled);
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

std::string_view ByteSource::peek(std::size_t size) {
  ahead_.erase(0, ahead_used_);
  ahead_used_ = 0;
  while (ahead_.size() < size) {
    const std::size_t had = ahead_.size();
    ahead_.resize(size);
    const std::size_t got = read_(ahead_.data() + had, size - had);
    ahead_.resize(had + got);
    if (got == 0) break;
  }
  return std::string_view(ahead_).substr(0, size);
}

ByteSource open_source(const std::string& path) {
  const auto file = std::make_shared<File>(path);
  ByteSource raw(
      path, [file](char* into, std::size_t size) { return file->read(into, size); }, file->size());
  const std::string name = lower_name(path);
  const std::string_view head = raw.peek(6);
  if (name.ends_with(".gz") || head.starts_with("\x1f\x8b")) return gunzip(std::move(raw));
  if (name.ends_with(".xz") || head == std::string_view("\xfd"
                                                        "7zXZ\0",
                                                        6))
    return unxz(std::move(raw));
  return raw;
}

std::string plain_name(const std::string& path) {
  std::string name = lower_name(path);
  if (name.ends_with(".gz") || name.ends_with(".xz")) name.resize(name.size() - 3);
  return name;
}

}  // namespace tracenorm::io
