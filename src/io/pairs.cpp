// Pairs of names, line by line: of one text, of several as one, or of the part that a rank reads.
#include <memory>
#include <optional>

#include "base/among_ranks.hpp"
#include "io/duplicates.hpp"
#include "io/several_texts.hpp"
#include "io/triplet_parser.hpp"

namespace tracenorm::io {
namespace {

/// The lines of a text that was opened; `numbers` are those of the lines that hold pairs, behind those before. `at`
/// says the place of a line by its number. Returns how many there were.
template <class At>
Offset read_lines(OpenedText& text, Offset before, const At& at, Pairs& pairs, EntryLines& numbers) {
  constexpr std::size_t room_bytes = std::size_t{1} << 20U;
  Offset number = before;
  const auto here = [&] { return at(number); };
  FieldSplitter splitter(text.separator);
  LineReader::Lines lines;
  do {
    text.lines.take(lines, room_bytes);
    LineCutter cutter({lines.room.data(), lines.bytes});
    for (std::string_view line; cutter.next(line);) {
      ++number;
      if (line.find('\0') != std::string_view::npos) fail_zero(here());
      const auto* fields = text.fields_of(line, splitter, here);
      if (fields == nullptr) continue;
      const std::string_view row = (*fields)[text.columns.row];
      const std::string_view col = (*fields)[text.columns.col];
      if (row.empty() || col.empty()) fail("{}: a row id and a column id are needed", here());
      numbers.note(static_cast<Offset>(pairs.row.size()), number - before);
      pairs.row.emplace_back(row);
      pairs.col.emplace_back(col);
    }
    if (lines.cut_off) fail_long(at(number + 1));
  } while (lines.bytes > 0);
  return number - before;
}

Pairs with_header(const OpenedText& text) {
  Pairs pairs;
  const ColumnPlaces& columns = text.columns;
  if (columns.header) pairs.header = {text.header[columns.row], text.header[columns.col]};
  return pairs;
}

[[noreturn]] void fail_none(const std::string& name) {
  fail("'{}' holds a header but no pairs: lines of \"row column\" were expected", name);
}

TextParts pair_text(const std::string& path) {
  const std::optional<std::uint64_t> plain = plain_size(path);
  return plain ? plain_text(path, *plain) : packed_text(path, [path] { return open_source(path); });
}

}  // namespace

Pairs read_pairs(const std::string& path, const ReadOptions& options) {
  OpenedText text(open_source(path), options, LineKind::pairs);
  Pairs pairs = with_header(text);
  const Offset above = text.lines.line_number() - (text.columns.header ? 0 : 1);
  const auto at = [name = text.lines.name()](Offset line) { return at_line(name, line); };
  EntryLines lines;
  read_lines(text, above, at, pairs, lines);
  if (pairs.row.empty()) fail_none(path);
  pairs.where = [=](std::size_t pair) { return at(above + lines.line(static_cast<Offset>(pair))); };
  return pairs;
}

Pairs read_pairs(const std::vector<std::string>& paths, const ReadOptions& options, Ranks* ranks) {
  if (ranks == nullptr && paths.size() == 1) return read_pairs(paths.front(), options);
  std::vector<TextParts> texts;
  texts.reserve(paths.size());
  for (const std::string& path : paths) texts.push_back(pair_text(path));
  const SeveralTexts all(texts, options, LineKind::pairs);
  Pairs pairs;
  EntryLines lines;
  const auto read = [&](const std::shared_ptr<FileLines>& starts, const std::shared_ptr<const FileLines>& files,
                        Offset before) {
    const int sharing = ranks == nullptr ? 1 : ranks->size();
    OpenedText text = opened_like(all.opened(), all.part(ranks == nullptr ? 0 : ranks->rank(), sharing, starts));
    const auto at = [&](Offset line) {
      const FileLines::Place place = files->place(line);
      return at_line(place.file, place.line);
    };
    pairs = with_header(text);
    lines = {};
    return read_lines(text, before, at, pairs, lines);
  };
  std::shared_ptr<const FileLines> files;
  Offset before = 0;
  if (ranks == nullptr) {
    const auto starts = std::make_shared<FileLines>(texts);
    read(starts, starts, 0);
    files = starts;
  } else {
    LinesBefore all_lines = read_stretches(texts, *ranks, read);
    files = std::make_shared<const FileLines>(std::move(all_lines.files));
    before = all_lines.before;
  }
  pairs.where = [=](std::size_t pair) {
    const FileLines::Place place = files->place(before + lines.line(static_cast<Offset>(pair)));
    return at_line(place.file, place.line);
  };
  if (total_count(static_cast<Offset>(pairs.row.size()), ranks) == 0) fail_none(all.name());
  return pairs;
}

}  // namespace tracenorm::io
