// Several texts of triplets as one, in their order: where each begins behind its header, which part of them a rank
// reads, and which file a line is from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "io/source.hpp"
#include "io/triplet_parser.hpp"
#include "tracenorm/ranks.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::io {

/// A text that can be opened several times.
struct TextParts {
  std::string name;
  std::function<ByteSource(std::uint64_t from)> open;  ///< its bytes from this one on
  std::function<std::uint64_t()> size;                 ///< of all, unpacked
  std::optional<std::uint64_t> plain_size;             ///< where bytes are as they are on the disk
  std::uint64_t disk_size = 0;
};

/// A file whose bytes are those of the text,
TextParts plain_text(const std::string& path, std::uint64_t size);
/// and one that is packed: it is unpacked from its beginning, whatever is asked for.
TextParts packed_text(const std::string& path, std::function<ByteSource()> open);

/// Which file each line is from, where the lines of several are counted through, without what stands above their data.
class FileLines {
 public:
  struct Start {
    std::size_t file;
    Offset before;   ///< lines of all files that come before its first one
    Offset skipped;  ///< lines above that one in its file
  };
  struct Place {
    const std::string& file;
    Offset line;
  };

  explicit FileLines(const std::vector<TextParts>& texts);
  void add(const Start& start) { starts_.push_back(start); }
  [[nodiscard]] const std::vector<Start>& starts() const { return starts_; }
  /// Of a line, counted from 1.
  [[nodiscard]] Place place(Offset line) const;

 private:
  std::vector<std::string> names_;
  std::vector<Start> starts_;
};

class SeveralTexts {
 public:
  /// Opens the first one that has a line; how it is to be read holds for all. Refers to `texts`.
  SeveralTexts(const std::vector<TextParts>& texts, const ReadOptions& options, LineKind kind = LineKind::triplets);

  [[nodiscard]] const OpenedText& opened() const { return opened_; }
  [[nodiscard]] std::string name() const;  ///< of all, for messages

  /// The lines that this rank of `ranks` reads: as many bytes as the others, plain texts cut anywhere and packed ones
  /// whole, unless there is only one. Throws where a text is not like the first one. Where files begin goes to
  /// `starts`, as they are reached.
  [[nodiscard]] ByteSource part(int rank, int ranks, const std::shared_ptr<FileLines>& starts) const;

 private:
  /// What stands above the data of a text.
  struct Head {
    std::uint64_t bytes;
    Offset lines;
  };
  /// Of lines that begin in [from, to) of a text.
  struct Piece {
    std::size_t file;
    Head head;
    std::uint64_t from;
    std::uint64_t to;  ///< `everything`: as far as it goes
  };
  static constexpr std::uint64_t everything = static_cast<std::uint64_t>(-1);

  [[nodiscard]] std::optional<Head> head(std::size_t file) const;
  [[nodiscard]] std::vector<Piece> pieces(int rank, int ranks) const;
  [[nodiscard]] ByteSource open(const Piece& piece) const;

  const std::vector<TextParts>& texts_;
  LineKind kind_;
  std::size_t first_;  // that has a line
  OpenedText opened_;
};

/// Where the lines of a rank are.
struct LinesBefore {
  FileLines files;    ///< of the lines of all ranks
  Offset before = 0;  ///< lines of the ranks before this one
};
/// How a rank reads its part: where files begin goes to `starts`; `files` and `before` are for messages. Returns how
/// many lines it has.
using ReadPart = FunctionRef<Offset(const std::shared_ptr<FileLines>& starts,
                                    const std::shared_ptr<const FileLines>& files, Offset before)>;
/// All ranks read their parts. Of those that fail the first one does it again, once it is known how many lines are
/// before its own, and ends the others.
LinesBefore read_stretches(const std::vector<TextParts>& texts, Ranks& ranks, ReadPart read);

}  // namespace tracenorm::io
