// Outputs that are written as they are made, because as a whole they may be larger than memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/execution.hpp"
#include "io/files.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"

namespace tracenorm::app {

/// A file that appears when it is whole, or standard output. Of several ranks the first one's alone is there.
class OutputStream {
 public:
  explicit OutputStream(const std::string& path) {
    if (path != kStdout && is_spokesman()) file_ = std::make_unique<io::AtomicFile>(path);
  }
  void write(std::string_view text) {
    if (!is_spokesman()) return;
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

/// The first rank gets the text of this one, and of all others in their order.
inline void write_in_order(const std::string& mine, Ranks& ranks, OutputStream& out) {
  std::uint64_t size = mine.size();
  if (!ranks.is_first()) {
    ranks.send(0, std::as_bytes(std::span(&size, 1)));
    ranks.send(0, std::as_bytes(std::span(mine)));
    return;
  }
  out.write(mine);
  std::string theirs;
  for (int from = 1; from < ranks.size(); ++from) {
    ranks.receive(from, std::as_writable_bytes(std::span(&size, 1)));
    theirs.resize(size);
    ranks.receive(from, std::as_writable_bytes(std::span(theirs)));
    out.write(theirs);
  }
}

/// Writes what make(first, count, text) appends to `text` for blocks of the numbers 0..size-1, in their order. A wave
/// of blocks is made at once on all threads of all ranks, so that memory holds a wave and not everything.
template <class Make>
void write_in_waves(const Execution& execution, Offset size, Offset block, OutputStream& out, Make&& make) {
  const Offset rank = ranks() == nullptr ? 0 : ranks()->rank();
  const Offset sharing = ranks() == nullptr ? 1 : ranks()->size();
  double threads = execution.threads();
  if (ranks() != nullptr) ranks()->largest(std::span(&threads, 1));  // machines may differ, waves may not
  std::vector<std::string> wave(4 * static_cast<std::size_t>(threads));
  const Offset length = block * static_cast<Offset>(wave.size());
  std::string mine;
  for (Offset begin = rank * length; begin - rank * length < size; begin += sharing * length) {
    for (std::string& text : wave) text.clear();
    const Offset count = std::clamp<Offset>(size - begin, 0, length);
    execution.for_each_block(count, block, [&](Offset first, Offset some) {
      make(begin + first, some, wave[static_cast<std::size_t>(first / block)]);
    });
    if (ranks() == nullptr) {
      for (const std::string& text : wave) out.write(text);
      continue;
    }
    mine.clear();
    for (const std::string& text : wave) mine += text;
    write_in_order(mine, *ranks(), out);
  }
}

}  // namespace tracenorm::app
