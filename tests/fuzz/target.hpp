// What fuzz targets share: bytes as a file, and the only way in which bad input may fail.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "tracenorm/error.hpp"

namespace tracenorm::fuzz {

/// A file in memory, which holds one input after the other: to make and open a new one would take longer than to read
/// it.
class BytesAsFile {
 public:
  void hold(std::string_view bytes) {
    if (ftruncate(descriptor_, 0) != 0) std::abort();
    for (off_t at = 0; !bytes.empty();) {
      const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), at);
      if (written <= 0) std::abort();
      bytes.remove_prefix(static_cast<std::size_t>(written));
      at += written;
    }
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int descriptor_ = memfd_create("fuzz", 0);
  std::string path_ = "/proc/self/fd/" + std::to_string(descriptor_);
};

/// The path of a file of these bytes, until the next call.
inline const std::string& file_of(std::string_view bytes) {
  static BytesAsFile file;
  file.hold(bytes);
  return file.path();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Runs work that may refuse what it is given, with a sentence. Every other exception is a crash.
template <class Work>
void may_refuse(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (std::string_view(error.what()).empty()) std::abort();
  }
}

}  // namespace tracenorm::fuzz
