// Where bytes come from: a file, a compressed file, a member of an archive. All are read forward in blocks, so that the
// uncompressed text is never in memory as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tracenorm::io {

class ByteSource {
 public:
  /// Puts up to `size` bytes at `into` and returns their number; zero at the end only.
  using Read = std::function<std::size_t(char* into, std::size_t size)>;

  ByteSource(std::string name, Read read, std::optional<std::uint64_t> size = std::nullopt)
      : name_(std::move(name)), read_(std::move(read)), size_(size) {}

  [[nodiscard]] const std::string& name() const { return name_; }  ///< for messages
  [[nodiscard]] std::optional<std::uint64_t> size() const {
    return size_;
  }  ///< all bytes, where that is known in advance
  /// Room for so many bytes, or for all that there are and one more: what is known to be short gets a short buffer.
  [[nodiscard]] std::size_t room(std::size_t wanted) const {
    return size_ && *size_ < wanted ? static_cast<std::size_t>(*size_) + 1 : wanted;
  }

  /// Fills `into` completely unless the bytes end before.
  std::size_t read(char* into, std::size_t size);
  /// The next bytes (fewer near the end), which stay to be read.
  std::string_view peek(std::size_t size);

 private:
  std::string name_;
  Read read_;
  std::optional<std::uint64_t> size_;
  std::string ahead_;
  std::size_t ahead_used_ = 0;
};

/// The path that means standard input.
inline constexpr std::string_view standard_input = "-";

/// Opens a file, once: it may be a pipe. gzip and xz are undone, by suffix (.gz, .xz) or because the first bytes say
/// so.
ByteSource open_source(const std::string& path);

/// How many bytes a file has that is neither compressed nor a pipe; nothing of others.
std::optional<std::uint64_t> plain_size(const std::string& path);
/// Such a file from a byte on.
ByteSource open_plain(const std::string& path, std::uint64_t from);

/// The file's name in lower case, without folders and without a suffix of compression.
std::string plain_name(const std::string& path);

}  // namespace tracenorm::io
