// Text lines "row col value [more]", in rounds. Ids that are known are looked up by the threads, and nobody adds any;
// the new ones of each block are added between two rounds, block by block, so that they are numbered in the order of
// the file.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/among_ranks.hpp"
#include "base/execution.hpp"
#include "base/memory.hpp"
#include "io/id_sides.hpp"
#include "io/readers.hpp"
#include "io/several_texts.hpp"
#include "io/text_rounds.hpp"
#include "io/triplet_parser.hpp"

namespace tracenorm::io {
namespace {

template <class Side>
class TripletRounds {
 public:
  TripletRounds(ByteSource source, const ReadOptions& options, const char* row_what, const char* col_what)
      : TripletRounds(OpenedText(std::move(source), options, LineKind::triplets), options, row_what, col_what) {}

  TripletRounds(OpenedText text, const ReadOptions& options, const char* row_what, const char* col_what)
      : text_(std::move(text)),
        missing_(options.missing),
        execution_(options.threads),
        rows_(row_what, [this] { return at(bad_line_); }),
        cols_(col_what, [this] { return at(bad_line_); }),
        rounds_(text_.lines, execution_),
        line_(text_.lines.line_number() - (text_.columns.header ? 0 : 1)) {}

  /// Of lines that several files have, counted through.
  TripletRounds(OpenedText text, std::shared_ptr<const FileLines> files, Offset lines_before,
                const ReadOptions& options, const char* row_what, const char* col_what)
      : TripletRounds(std::move(text), options, row_what, col_what) {
    files_ = std::move(files);
    line_ = lines_before;
  }

  ParsedEntries run() {
    read();
    NamedEntries& data = parsed_.data;
    if (data.entries.row.empty())
      fail("'{}' holds a header but no entries: lines of \"row column value\" were expected", parsed_.name);
    data.rows = rows_.finish(data.entries.row, data.row_labels, execution_);
    data.cols = cols_.finish(data.entries.col, data.col_labels, execution_);
    const auto lines = std::make_shared<EntryLines>(std::move(lines_));
    const auto place = [lines, files = files_, name = parsed_.name](Offset entry) {
      return files ? files->place(lines->line(entry)) : FileLines::Place{name, lines->line(entry)};
    };
    parsed_.where = [place](Offset entry) { return fmt::format("line {}", place(entry).line); };
    parsed_.file = [place](Offset entry) { return place(entry).file; };
    return std::move(parsed_);
  }

  /// A stretch of a text. Returns how many lines it has.
  Offset read_stretch() {
    const Offset before = line_;
    read();
    return line_ - before;
  }
  /// What it read then, among ranks that have read the other stretches.
  TripletStretch finish(Ranks& ranks) {
    NamedEntries& data = parsed_.data;
    data.rows = rows_.finish(data.entries.row, data.row_labels, execution_, ranks);
    data.cols = cols_.finish(data.entries.col, data.col_labels, execution_, ranks);
    return {std::move(parsed_), std::move(lines_), FileLines(*files_), 0};
  }

 private:
  [[nodiscard]] std::string at(Offset line) const {
    if (!files_) return at_line(text_.lines.name(), line);
    const auto [file, its] = files_->place(line);
    return at_line(file, its);
  }

  void read() {
    parsed_.name = text_.lines.name();
    parsed_.data.columns = text_.columns.words;
    while (rounds_.next([&] { return at(line_ + 1); })) {
      rounds_.read(blocks_, Block(*this), [&](Block& block) { read(block); });
      settle_blocks();
    }
  }

  struct Block : LineBlock {
    explicit Block(const TripletRounds& all) : row_ids(all.rows_), col_ids(all.cols_) {}
    typename Side::Own row_ids;
    typename Side::Own col_ids;
    NamedEntries found;
    EntryLines lines;  // counted from the first of the block
  };

  void read(Block& block) const {
    Entries& entries = block.found.entries;
    clear(block);
    TripletParser parser(text_, missing_);
    const auto nowhere_yet = [] { return std::string(); };
    Triplet triplet;
    block.read_lines([&](std::string_view line) {
      if (!parser.parse(line, triplet, nowhere_yet)) return;
      block.lines.note(static_cast<Offset>(entries.value.size()), block.line_count);
      rows_.append(triplet.row, triplet.row_number, block.row_ids, entries.row);
      cols_.append(triplet.col, triplet.col_number, block.col_ids, entries.col);
      entries.value.push_back(triplet.value);
      if (text_.columns.weight != nowhere) block.found.weight.push_back(triplet.weight);
      if (text_.columns.time != nowhere) block.found.time.push_back(triplet.time);
    });
    rows_.append_waiting(block.row_ids, entries.row);
    cols_.append_waiting(block.col_ids, entries.col);
  }

  static void clear(Block& block) {
    Side::forget(block.row_ids);
    Side::forget(block.col_ids);
    block.found.entries.row.clear();
    block.found.entries.col.clear();
    block.found.entries.value.clear();
    block.found.weight.clear();
    block.found.time.clear();
    block.lines = {};
  }

  /// Numbers what is new, and puts the entries where they belong.
  void settle_blocks() {
    NamedEntries& data = parsed_.data;
    std::vector<std::size_t> place(rounds_.blocks() + 1, data.entries.row.size());
    for (std::size_t b = 0; b < rounds_.blocks(); ++b) {
      Block& block = blocks_[b];
      if (block.bad) fail_in(block);
      bad_line_ = line_ + 1;  // for an id too many: where the block begins is near enough
      rows_.settle(block.row_ids);
      cols_.settle(block.col_ids);
      lines_.append(block.lines, static_cast<Offset>(place[b]), line_);
      line_ += block.line_count;
      place[b + 1] = place[b] + block.found.entries.row.size();
    }
    make_room(place.back());
    rounds_.put([&](std::size_t b) {
      const Block& block = blocks_[b];
      const auto at = static_cast<std::ptrdiff_t>(place[b]);
      const NamedEntries& found = block.found;
      std::transform(found.entries.row.begin(), found.entries.row.end(), data.entries.row.begin() + at,
                     [&](Index row) { return Side::settled(row, block.row_ids); });
      std::transform(found.entries.col.begin(), found.entries.col.end(), data.entries.col.begin() + at,
                     [&](Index col) { return Side::settled(col, block.col_ids); });
      std::copy(found.entries.value.begin(), found.entries.value.end(), data.entries.value.begin() + at);
      if (!found.weight.empty()) std::copy(found.weight.begin(), found.weight.end(), data.weight.begin() + at);
      if (!found.time.empty()) std::copy(found.time.begin(), found.time.end(), data.time.begin() + at);
    });
  }

  /// Memory is taken once where the size of the file is known: a guess from what was read so far.
  void make_room(std::size_t count) {
    NamedEntries& data = parsed_.data;
    std::size_t all = 0;
    if (const auto guess = rounds_.guess(count); guess && count > data.entries.row.capacity()) {
      all = static_cast<std::size_t>(1.03 * *guess);
      const double entry = 2 * sizeof(Index) + sizeof(Real) + (text_.columns.weight != nowhere ? sizeof(Real) : 0) +
                           (text_.columns.time != nowhere ? sizeof(double) : 0);
      constexpr double little = 1e7;  // to ask what there is takes longer than to read a small file
      if (*guess > little)
        require_memory((*guess - static_cast<double>(count)) * entry, available_memory(),
                       fmt::format("'{}': to read its {:.3g} entries", parsed_.name, *guess));
    }
    grow(data.entries.row, count, all);
    grow(data.entries.col, count, all);
    grow(data.entries.value, count, all);
    if (text_.columns.weight != nowhere) grow(data.weight, count, all);
    if (text_.columns.time != nowhere) grow(data.time, count, all);
  }

  /// The bad line again, with its number.
  [[noreturn]] void fail_in(const Block& block) {
    bad_line_ = line_ + block.line_count;
    const auto here = [&] { return at(bad_line_); };
    block.fail_again(here, [&](std::string_view line) {
      TripletParser parser(text_, missing_);
      Triplet triplet;
      parser.parse(line, triplet, here);
      rows_.require(triplet.row);
      cols_.require(triplet.col);
    });
  }

  OpenedText text_;
  MissingMarks missing_;
  Execution execution_;
  Side rows_;
  Side cols_;
  TextRounds rounds_;
  std::vector<Block> blocks_;
  ParsedEntries parsed_;
  EntryLines lines_;
  std::shared_ptr<const FileLines> files_;  // where there are several
  Offset line_;                             // the last one that was settled
  Offset bad_line_ = 0;                     // for messages
};

}  // namespace

ParsedEntries read_triplets(ByteSource source, const ReadOptions& options) {
  return TripletRounds<NamedSide>(std::move(source), options, "row id", "column id").run();
}

namespace {

/// Several texts, by one process.
template <class Side>
ParsedEntries read_all(const std::vector<TextParts>& texts, const ReadOptions& options, const char* row_what,
                       const char* col_what) {
  const SeveralTexts all(texts, options);
  const auto files = std::make_shared<FileLines>(texts);
  return TripletRounds<Side>(opened_like(all.opened(), all.part(0, 1, files)), files, 0, options, row_what, col_what)
      .run();
}

}  // namespace

ParsedEntries read_triplets(const std::vector<TextParts>& texts, const ReadOptions& options) {
  return read_all<NamedSide>(texts, options, "row id", "column id");
}

ParsedEntries read_libmf(const std::vector<TextParts>& texts, const ReadOptions& options) {
  return read_all<CountedSide>(texts, options, "row", "column");
}

TripletStretch read_stretch(const std::vector<TextParts>& texts, const ReadOptions& options, Ranks& ranks) {
  const SeveralTexts all(texts, options);
  using Rounds = TripletRounds<NamedSide>;
  std::optional<Rounds> rounds;
  const auto read = [&](const std::shared_ptr<FileLines>& starts, const std::shared_ptr<const FileLines>& files,
                        Offset before) {
    OpenedText mine = opened_like(all.opened(), all.part(ranks.rank(), ranks.size(), starts));
    rounds.emplace(std::move(mine), files, before, options, "row id", "column id");
    return rounds->read_stretch();
  };
  LinesBefore lines = read_stretches(texts, ranks, read);
  TripletStretch stretch = rounds->finish(ranks);
  stretch.files = std::move(lines.files);
  stretch.lines_before = lines.before;
  return stretch;
}

ParsedEntries read_libmf(ByteSource source, const ReadOptions& options) {
  return TripletRounds<CountedSide>(std::move(source), options, "row", "column").run();
}

}  // namespace tracenorm::io
