#include "io/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>

#include "io/archive.hpp"
#include "io/messages.hpp"

namespace tracenorm::io {
namespace {

constexpr std::string_view xz_magic(
    "\xfd"
    "7zXZ\0",
    6);

int open_descriptor(const std::string& path) {
  const int descriptor =
      path == standard_input ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT
  if (descriptor < 0) fail_about(Topic::opening, "cannot read '{}': {}", path, std::strerror(errno));
  return descriptor;
}

/// A plain file or a gzip file. zlib reads both alike, and compares the checksum of gzip, which libarchive does not.
class File {
 public:
  explicit File(const std::string& path) : path_(path) {
    const int descriptor = open_descriptor(path);
    struct stat status {};
    const int failed = fstat(descriptor, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
    if (failed == 0) handle_.reset(gzdopen(descriptor, "rb"));
    if (handle_ == nullptr) close(descriptor);
    if (failed == EISDIR)
      fail_about(Topic::opening, "cannot read '{}': it is a folder; give the name of a file", path_);
    if (handle_ == nullptr)
      fail_about(Topic::opening, "cannot read '{}': {}", path_, std::strerror(failed != 0 ? failed : ENOMEM));
    const bool sized = S_ISREG(status.st_mode) && status.st_size > 0;  // files of /proc say 0, whatever they hold
    gzbuffer(handle_.get(),
             sized ? static_cast<unsigned>(std::clamp<off_t>(status.st_size, 1 << 9, most_buffer)) : most_buffer);
    if (sized && is_plain()) size_ = static_cast<std::uint64_t>(status.st_size);
  }

  /// Not gzip. Looks at the first bytes.
  [[nodiscard]] bool is_plain() const { return gzdirect(handle_.get()) != 0; }
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }

  /// Of a plain file that nothing was read of.
  void skip(std::uint64_t bytes) {
    if (gzseek(handle_.get(), static_cast<z_off_t>(bytes), SEEK_SET) < 0)
      fail_about(Topic::opening, "cannot read '{}' from byte {} on", path_, bytes);
  }

  std::size_t read(char* into, std::size_t size) {
    const int got = gzread(handle_.get(), into, static_cast<unsigned>(std::min(size, std::size_t{1} << 30U)));
    if (got > 0) return static_cast<std::size_t>(got);
    int code = Z_OK;
    const char* reason = gzerror(handle_.get(), &code);
    if (code == Z_ERRNO) fail_about(Topic::opening, "cannot read '{}': {}", path_, std::strerror(errno));
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_BUF_ERROR) fail("'{}' ends early: the gzip file is truncated; fetch or copy it again", path_);
    if (got < 0) fail("'{}' is not a valid gzip file ({}); fetch or copy it again", path_, reason);
    return 0;
  }

 private:
  static constexpr unsigned most_buffer = 1U << 17U;

  std::string path_;
  std::unique_ptr<gzFile_s, decltype(&gzclose)> handle_{nullptr, gzclose};
  std::optional<std::uint64_t> size_;
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
  size = room(size);
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
  ByteSource bytes(
      path == standard_input ? "standard input" : path,
      [file](char* into, std::size_t size) { return file->read(into, size); }, file->size());
  const bool xz = bytes.peek(xz_magic.size()) == xz_magic;
  const std::string name = lower_name(path);
  const char* named = name.ends_with(".gz") && file->is_plain() ? "gzip"
                      : name.ends_with(".xz") && !xz            ? "xz"
                                                                : nullptr;
  if (named != nullptr && bytes.peek(1).empty()) fail("'{}' is empty: a {} file was expected", path, named);
  if (named != nullptr)
    fail("'{}' is not a valid {} file: it may be truncated or damaged; fetch or copy it again", path, named);
  if (xz) return unxz(std::move(bytes));
  return bytes;
}

std::optional<std::uint64_t> plain_size(const std::string& path) {
  if (path == standard_input) return std::nullopt;
  File file(path);
  if (!file.is_plain() || !file.size()) return std::nullopt;
  std::array<char, xz_magic.size()> head{};
  const std::size_t count = file.read(head.data(), head.size());
  return std::string_view(head.data(), count) == xz_magic ? std::nullopt : file.size();
}

ByteSource open_plain(const std::string& path, std::uint64_t from) {
  const auto file = std::make_shared<File>(path);
  file->skip(from);
  return {path, [file](char* into, std::size_t size) { return file->read(into, size); }};
}

std::string plain_name(const std::string& path) {
  std::string name = lower_name(path);
  if (name.ends_with(".gz") || name.ends_with(".xz")) name.resize(name.size() - 3);
  return name;
}

}  // namespace tracenorm::io
