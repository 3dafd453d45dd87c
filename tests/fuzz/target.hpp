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

/// A file of these bytes, in memory.
class BytesAsFile {
 public:
  explicit BytesAsFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", 0)) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written <= 0) std::abort();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ~BytesAsFile() { ::close(descriptor_); }
  BytesAsFile(const BytesAsFile&) = delete;
  BytesAsFile& operator=(const BytesAsFile&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

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
