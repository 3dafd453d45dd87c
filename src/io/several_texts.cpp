#include "io/several_texts.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

#include "base/among_ranks.hpp"
#include "io/messages.hpp"
#include "io/parts.hpp"

namespace tracenorm::io {
namespace {

/// The first text with a line, or the first one.
std::size_t first_with_lines(const std::vector<TextParts>& texts) {
  if (texts.size() == 1) return 0;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    LineReader lines(texts[k].open(0));
    std::string_view line;
    if (next_leading_line(lines, line)) return k;
  }
  return 0;
}

std::string_view separator_word(Separator separator) {
  switch (separator) {
    case Separator::tab:
      return "tabs";
    case Separator::double_colon:
      return "'::'";
    case Separator::comma:
      return "commas";
    case Separator::semicolon:
      return "semicolons";
    case Separator::blank:
      return "blanks";
  }
  return "";
}

/// The lines that begin in [from, to), of a text whose lines begin at `begin`.
ByteSource stretch_of(const TextParts& text, std::uint64_t begin, std::uint64_t from, std::uint64_t to) {
  // A line belongs to who has the byte before it.
  struct Reading {
    ByteSource bytes;
    std::uint64_t at;  // of the next byte
    bool begun;
    bool ended = false;
  };
  const std::uint64_t first = from > begin ? from - 1 : from;
  const auto reading = std::make_shared<Reading>(Reading{text.open(first), first, from == begin, from == to});
  const std::string name = reading->bytes.name();
  return {name,
          [reading, to](char* into, std::size_t size) -> std::size_t {
            while (!reading->ended) {
              std::size_t count = reading->bytes.read(into, size);
              std::size_t skipped = 0;
              const std::uint64_t here = reading->at;
              reading->at += count;
              if (count == 0) reading->ended = true;
              if (!reading->begun) {
                const void* newline = std::memchr(into, '\n', count);
                skipped =
                    newline == nullptr ? count : static_cast<std::size_t>(static_cast<const char*>(newline) - into) + 1;
                reading->begun = newline != nullptr;
                if (reading->begun && here + skipped >= to) reading->ended = true;  // the line goes beyond all of this
                if (reading->ended) return 0;
              }
              if (here + count >= to) {  // to the end of the line that has the byte before `to`
                const std::size_t last = to - 1 > here ? static_cast<std::size_t>(to - 1 - here) : 0;
                const std::size_t from_here = std::max(last, skipped);
                const void* newline = std::memchr(into + from_here, '\n', count - from_here);
                if (newline != nullptr) {
                  count = static_cast<std::size_t>(static_cast<const char*>(newline) - into) + 1;
                  reading->ended = true;
                }
              }
              if (count == skipped) continue;
              std::memmove(into, into + skipped, count - skipped);
              return count - skipped;
            }
            return 0;
          },
          to - first + 1};
}

/// The lines of all ranks, behind those of the ranks before each.
FileLines lines_of_all(const std::vector<TextParts>& texts, const FileLines& mine, const std::vector<Offset>& lines,
                       Ranks& ranks) {
  struct Told {
    FileLines::Start start;
    int rank;
  };
  std::vector<Told> told;
  for (const FileLines::Start& start : mine.starts()) told.push_back({start, ranks.rank()});
  FileLines all(texts);
  for (Told& one : gathered(std::move(told), &ranks)) {
    one.start.before = std::accumulate(lines.begin(), lines.begin() + one.rank, one.start.before);
    all.add(one.start);
  }
  return all;
}

}  // namespace

TextParts plain_text(const std::string& path, std::uint64_t size) {
  return {path, [path](std::uint64_t from) { return open_plain(path, from); }, [size] { return size; }, size, size};
}

TextParts packed_text(const std::string& path, std::function<ByteSource()> open) {
  const auto size = [open] {
    ByteSource bytes = open();
    return skip(bytes, std::numeric_limits<std::uint64_t>::max());
  };
  const auto open_from = [open = std::move(open)](std::uint64_t from) {
    ByteSource bytes = open();
    skip(bytes, from);
    return bytes;
  };
  std::error_code none;
  const std::uintmax_t disk_size = std::filesystem::file_size(path, none);
  return {path, open_from, size, std::nullopt, none ? 0 : std::uint64_t{disk_size}};
}

FileLines::FileLines(const std::vector<TextParts>& texts) {
  for (const TextParts& text : texts) names_.push_back(text.name);
}

FileLines::Place FileLines::place(Offset line) const {
  const auto after = std::find_if(starts_.begin(), starts_.end(), [&](const Start& s) { return s.before >= line; });
  if (after == starts_.begin()) return {names_.front(), line};
  const Start& start = *std::prev(after);
  return {names_[start.file], line - start.before + start.skipped};
}

SeveralTexts::SeveralTexts(const std::vector<TextParts>& texts, const ReadOptions& options, LineKind kind)
    : texts_(texts), kind_(kind), first_(first_with_lines(texts)), opened_(texts[first_].open(0), options, kind) {}

std::string SeveralTexts::name() const {
  const std::string& first = texts_.front().name;
  return texts_.size() == 1 ? first : fmt::format("{}' to '{}", first, texts_.back().name);
}

std::optional<SeveralTexts::Head> SeveralTexts::head(std::size_t file) const {
  const auto head_of = [](const LineReader& lines, bool header) {
    return Head{static_cast<std::uint64_t>(lines.position()), lines.line_number() - (header ? 0 : 1)};
  };
  if (file == first_) return head_of(opened_.lines, opened_.columns.header);
  LineReader lines(texts_[file].open(0));
  const FirstLines own = first_lines(lines.name(), lines.ahead(), kind_ == LineKind::triplets ? 3 : 2);
  std::string_view line;
  if (!next_leading_line(lines, line) || own.lines.empty()) return std::nullopt;
  const std::string& first = texts_[first_].name;
  FieldSplitter splitter(opened_.separator);
  const auto& cut = splitter.split(line);
  const std::vector<std::string> fields(cut.begin(), cut.end());
  if (opened_.columns.header && fields == opened_.header) return head_of(lines, true);
  if (own.separator != opened_.separator && fields.size() != opened_.width) {
    fail("{}: the fields are separated by {}, those of '{}' by {}; give files of one kind", lines.here(),
         separator_word(own.separator), first, separator_word(opened_.separator));
  }
  if (is_triplet_header(fields, opened_.columns.value)) {
    const std::string theirs = opened_.columns.header ? "has " + listing(opened_.header) : "has none";
    fail("{}: the header is {}, and '{}' {}; give files with the same columns", lines.here(), listing(fields), first,
         theirs);
  }
  if (fields.size() != opened_.width) {
    fail("{}: {} field{} where '{}' has {}; give files with the same columns", lines.here(), fields.size(),
         fields.size() == 1 ? "" : "s", first, opened_.width);
  }
  lines.repeat();
  return head_of(lines, false);
}

std::vector<SeveralTexts::Piece> SeveralTexts::pieces(int rank, int ranks) const {
  const bool alone = texts_.size() == 1;
  const auto weight = [&](const TextParts& text) -> std::uint64_t {
    constexpr std::uint64_t usual_packing = 4;  // of what the bytes of a packed text become
    if (ranks == 1) return 1;                   // no matter
    if (alone) return text.size();
    return text.plain_size ? *text.plain_size : usual_packing * text.disk_size;
  };
  std::vector<std::uint64_t> sizes;  // asked for once: a packed text alone is unpacked for it
  for (const TextParts& text : texts_) sizes.push_back(weight(text));
  const std::uint64_t all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  const auto cut = [&](int r) {  // before the product would grow too large
    const auto parts = static_cast<std::uint64_t>(ranks);
    const auto part = static_cast<std::uint64_t>(r);
    return all / parts * part + all % parts * part / parts;
  };
  const std::uint64_t from = cut(rank);
  const std::uint64_t to = rank + 1 == ranks ? everything : cut(rank + 1);
  std::vector<Piece> pieces;
  std::uint64_t before = 0;
  for (std::size_t k = 0; k < texts_.size(); ++k) {
    const std::uint64_t size = sizes[k];
    const std::uint64_t middle = before + size / 2;
    const std::uint64_t end = before + size;
    if (ranks == 1 || !(alone || texts_[k].plain_size)) {
      const bool mine = ranks == 1 || (from <= middle && middle < to);
      if (const auto own = mine ? head(k) : std::nullopt) pieces.push_back({k, *own, own->bytes, everything});
    } else if (from < end && before < to) {
      const std::uint64_t mine = from > before ? from - before : 0;
      const std::uint64_t others = to < end ? to - before : size;
      if (const auto own = head(k)) {
        const Piece piece{k, *own, std::max(mine, own->bytes), std::max(others, own->bytes)};
        if (piece.from < piece.to) pieces.push_back(piece);
      }
    }
    before = end;
  }
  return pieces;
}

ByteSource SeveralTexts::open(const Piece& piece) const {
  const TextParts& text = texts_[piece.file];
  return piece.to == everything ? text.open(piece.from) : stretch_of(text, piece.head.bytes, piece.from, piece.to);
}

ByteSource SeveralTexts::part(int rank, int ranks, const std::shared_ptr<FileLines>& starts) const {
  struct Reading {
    std::vector<Piece> pieces;
    std::size_t next = 0;
    std::optional<ByteSource> bytes;  // of the piece before `next`
    char last = '\n';
    Offset lines = 0;  // that were given
  };
  const auto reading = std::make_shared<Reading>(Reading{pieces(rank, ranks), 0, std::nullopt});
  std::optional<std::uint64_t> size = 0;
  for (const Piece& piece : reading->pieces) {
    const std::optional<std::uint64_t> plain = texts_[piece.file].plain_size;
    if (piece.to == everything && !plain) size = std::nullopt;
    if (size) *size += (piece.to == everything ? *plain : piece.to) - piece.from + 1;
  }
  return {name(),
          [this, reading, starts](char* into, std::size_t room) -> std::size_t {
            while (true) {
              if (!reading->bytes) {
                if (reading->next == reading->pieces.size()) return 0;
                const Piece& piece = reading->pieces[reading->next++];
                if (piece.from == piece.head.bytes) starts->add({piece.file, reading->lines, piece.head.lines});
                reading->bytes = open(piece);
              }
              const std::size_t count = reading->bytes->read(into, room);
              if (count > 0) {
                reading->last = into[count - 1];
                reading->lines += std::count(into, into + count, '\n');
                return count;
              }
              reading->bytes.reset();
              if (reading->last != '\n') {  // the first line of the next file is another one
                *into = reading->last = '\n';
                ++reading->lines;
                return 1;
              }
            }
          },
          size};
}

LinesBefore read_stretches(const std::vector<TextParts>& texts, Ranks& ranks, ReadPart read) {
  const auto begun = std::make_shared<FileLines>(texts);  // of this rank, before others have told of theirs
  Offset lines = -1;
  std::exception_ptr failure;
  try {
    lines = read(begun, begun, 0);
  } catch (const Error&) {  // who reads before this rank may have something to say, and knows how many lines there are
    failure = std::current_exception();
  }
  const std::vector<Offset> of_all = gathered(std::vector<Offset>{lines}, &ranks);
  const auto failed = std::find(of_all.begin(), of_all.end(), -1);
  const auto who = failed == of_all.end() ? ranks.rank() : static_cast<int>(failed - of_all.begin());
  FileLines files = lines_of_all(texts, *begun, of_all, ranks);
  const Offset before = std::accumulate(of_all.begin(), of_all.begin() + std::min(who, ranks.rank()), Offset{0});
  if (failed != of_all.end()) {
    if (who == ranks.rank()) {  // now with the numbers of the lines
      read(std::make_shared<FileLines>(texts), std::make_shared<const FileLines>(files), before);
      std::rethrow_exception(failure);
    }
    static_cast<void>(gathered(std::vector<Offset>{lines}, &ranks));  // it ends this one too
  }
  return {std::move(files), before};
}

}  // namespace tracenorm::io
