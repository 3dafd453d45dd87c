// Outputs that are written as they are made, because as a whole they may be larger than memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/among_ranks.hpp"
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

inline void send_text(const std::string& text, Ranks& ranks) {
  const std::uint64_t size = text.size();
  ranks.send(0, std::as_bytes(std::span(&size, 1)));
  ranks.send(0, std::as_bytes(std::span(text)));
}
inline void receive_text(std::string& text, int from, Ranks& ranks) {
  std::uint64_t size = 0;
  ranks.receive(from, std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  ranks.receive(from, std::as_writable_bytes(std::span(text)));
}

/// The first rank gets the text of this one, and of all others in their order.
inline void write_in_order(const std::string& mine, OutputStream& out) {
  if (!is_spokesman()) return send_text(mine, *ranks());
  out.write(mine);
  std::string theirs;
  for (int from = 1; ranks() != nullptr && from < ranks()->size(); ++from) {
    receive_text(theirs, from, *ranks());
    out.write(theirs);
  }
}

/// What ranks write one after the other: the first rank's text goes out at once, others keep theirs until it is their
/// turn.
class TurnStream {
 public:
  explicit TurnStream(OutputStream& out) : out_(out) {}
  void write(std::string text) {
    if (is_spokesman()) return out_.write(text);
    if (!text.empty()) kept_.push_back(std::move(text));
  }
  void finish() {
    if (ranks() == nullptr) return;
    std::uint64_t count = kept_.size();
    const std::vector<std::uint64_t> counts = gathered(std::vector<std::uint64_t>{count}, ranks());
    if (!ranks()->is_first()) {
      for (std::string& text : kept_) {
        send_text(text, *ranks());
        std::string().swap(text);
      }
      return;
    }
    std::string theirs;
    for (int from = 1; from < ranks()->size(); ++from) {
      for (count = counts[static_cast<std::size_t>(from)]; count > 0; --count) {
        receive_text(theirs, from, *ranks());
        out_.write(theirs);
      }
    }
  }

 private:
  OutputStream& out_;
  std::vector<std::string> kept_;
};

/// How many blocks of a wave a rank makes: machines may differ, waves may not.
inline std::size_t blocks_at_once(const Execution& execution) {
  double threads = execution.threads();
  if (ranks() != nullptr) ranks()->largest(std::span(&threads, 1));
  return 4 * static_cast<std::size_t>(threads);
}

/// Writes what make(first, count, text) appends to `text` for blocks of the numbers 0..size-1, in their order. A wave
/// of blocks is made at once on all threads of all ranks, so that memory holds a wave and not everything: of each wave
/// the first `blocks_at_once` are made by the first rank.
template <class Make>
void write_in_waves(const Execution& execution, Offset size, Offset block, OutputStream& out, Make&& make) {
  const Offset rank = ranks() == nullptr ? 0 : ranks()->rank();
  const Offset sharing = ranks() == nullptr ? 1 : ranks()->size();
  std::vector<std::string> wave(blocks_at_once(execution));
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
    write_in_order(mine, out);
  }
}

}  // namespace tracenorm::app
