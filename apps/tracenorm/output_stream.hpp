// Outputs that are written as they are made, because as a whole they may be larger than memory.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/execution.hpp"
#include "io/files.hpp"
#include "outputs.hpp"

namespace tracenorm::app {

/// A file that appears when it is whole, or standard output.
class OutputStream {
 public:
  explicit OutputStream(const std::string& path) {
    if (path != kStdout) file_ = std::make_unique<io::AtomicFile>(path);
  }
  void write(std::string_view text) {
    if (file_) {
      file_->write(text);
    } else {
      write_output(std::string(kStdout), text);
    }
  }
  void finish() {
    if (file_) file_->commit();
  }

 private:
  std::unique_ptr<io::AtomicFile> file_;
};

/// Writes what make(first, count, text) appends to `text` for blocks of the numbers 0..size-1, in their order. A wave
/// of blocks is made at once on all threads, so that memory holds a wave and not everything.
template <class Make>
void write_in_waves(const Execution& execution, Offset size, Offset block, OutputStream& out, Make&& make) {
  std::vector<std::string> wave(4 * static_cast<std::size_t>(execution.threads()));
  const Offset length = block * static_cast<Offset>(wave.size());
  for (Offset begin = 0; begin < size; begin += length) {
    for (std::string& text : wave) text.clear();
    execution.for_each_block(std::min(length, size - begin), block, [&](Offset first, Offset count) {
      make(begin + first, count, wave[static_cast<std::size_t>(first / block)]);
    });
    for (const std::string& text : wave) out.write(text);
  }
}

}  // namespace tracenorm::app
