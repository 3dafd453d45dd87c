// A text in rounds, on all threads: a round is some megabytes of whole lines, cut into blocks that are read at once,
// while one more thread fetches (and unpacks) the bytes of the next. What blocks found is put together between two
// rounds, in the order of the text, so that neither what is read nor which line is found wrong first depends on the
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/execution.hpp"
#include "io/text.hpp"

namespace tracenorm::io {

/// Lines that one thread reads. What it finds there is kept by those who derive from it.
struct LineBlock {
  std::string_view text;
  Offset line_count = 0;
  bool bad = false;  ///< something is wrong with the last line that was counted

  /// Calls read(line) for each line, up to the first for which it throws. Nobody knows the number of that line yet, so
  /// what was thrown is dropped: `fail_again` is for whoever does.
  template <class Read>
  void read_lines(const Read& read) {
    line_count = 0;
    bad = false;
    const bool zero = std::memchr(text.data(), 0, text.size()) != nullptr;
    LineCutter cutter(text);
    std::string_view line;
    try {
      while (cutter.next(line)) {
        ++line_count;
        if (zero && line.find('\0') != std::string_view::npos) fail_zero("");
        read(line);
      }
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      bad = true;
    }
  }

  /// Reads the bad line once more. `where` says its place.
  template <class Where, class Read>
  [[noreturn]] void fail_again(const Where& where, const Read& read) const {
    LineCutter cutter(text);
    std::string_view line;
    for (Offset k = 0; k < line_count; ++k) cutter.next(line);
    if (line.find('\0') != std::string_view::npos) fail_zero(where());
    read(line);
    fail_line(where(), line);
  }

 private:
  [[noreturn]] static void fail_line(const std::string& where, std::string_view line);
};

class TextRounds {
 public:
  /// What is left of the lines.
  TextRounds(LineReader& lines, const Execution& execution) : lines_(lines), execution_(execution) {}

  /// Goes on to the next round; false at the end. Throws what went wrong with fetching it: everything before it is read
  /// then. `where` says the place of its first line.
  template <class Where>
  bool next(const Where& where) {
    if (now_.cut_off) fail_long(where());
    return advance();
  }

  /// How many blocks the round has.
  [[nodiscard]] std::size_t blocks() const { return texts_.size(); }
  /// Calls read(block) for all of them, possibly at once. They have a `LineBlock` as their base; new ones are like
  /// `empty`.
  template <class Block, class Read>
  void read(std::vector<Block>& blocks, const Block& empty, const Read& read) {
    if (blocks.size() < texts_.size()) blocks.resize(texts_.size(), empty);
    const int fetching = now_.cut_off || ended_ ? 0 : 1;
    execution_.for_each_shard(static_cast<int>(texts_.size()) + fetching, [&](int shard) {
      if (shard < fetching) return fetch();
      const auto b = static_cast<std::size_t>(shard - fetching);
      blocks[b].text = texts_[b];
      read(blocks[b]);
    });
  }
  /// Calls put(number) for all blocks, possibly at once: each puts what it found where it belongs.
  template <class Put>
  void put(const Put& put) const {
    execution_.for_each_shard(static_cast<int>(blocks()), [&](int block) { put(static_cast<std::size_t>(block)); });
  }

  /// A guess how many of something the whole text has, of which so many were found up to the end of this round. Nothing
  /// where the size of the text is not known.
  [[nodiscard]] std::optional<double> guess(std::size_t found) const;

 private:
  bool advance();
  void cut();
  void fetch();
  [[nodiscard]] std::size_t most_bytes() const;

  static constexpr std::size_t block_bytes = std::size_t{1} << 18U;

  LineReader& lines_;
  const Execution& execution_;
  LineReader::Lines now_;
  LineReader::Lines next_;
  bool begun_ = false;
  bool ended_ = false;
  std::exception_ptr failure_;  // of fetching
  std::vector<std::string_view> texts_;
  std::size_t round_bytes_ = block_bytes;  // small ones first: what they add, later ones know
  std::uint64_t bytes_ = 0;                // of all rounds so far
};

/// Gives a list the length `count`. Memory is taken once where `all` says how much there will be.
template <class Number>
void grow(std::vector<Number>& list, std::size_t count, std::size_t all) {
  if (count > list.capacity() && all > count) list.reserve(all);
  list.resize(count);
}

}  // namespace tracenorm::io
