// Text lines "row col value [more]", on all threads: a round is some megabytes of whole lines, cut into blocks that are
// read at once. Ids that are known are looked up meanwhile, and nobody adds any; the new ones of each block are added
// between two rounds, block by block, so that they are numbered in the order of the file. While the blocks of a round
// are read, one more thread fetches (and unpacks) the bytes of the next.
#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "base/among_ranks.hpp"
#include "base/execution.hpp"
#include "base/memory.hpp"
#include "io/id_sides.hpp"
#include "io/readers.hpp"
#include "io/several_texts.hpp"
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
    NamedEntries& data = parsed_.data;
    data.columns = text_.columns.words;
    std::size_t bytes = block_bytes;
    text_.lines.take(now_, bytes);
    while (now_.bytes > 0 || now_.cut_off) {
      cut();
      bytes = std::min(4 * bytes, round_bytes());  // small ones first: what they add, later ones know
      read_blocks(bytes);
      settle_blocks();
      if (now_.cut_off) fail_long(at(line_ + 1));
      if (failure_) std::rethrow_exception(failure_);
      std::swap(now_, next_);
    }
  }

  static constexpr std::size_t block_bytes = std::size_t{1} << 18U;
  /// More for many threads; what is kept of a round is as much again.
  [[nodiscard]] std::size_t round_bytes() const {
    return std::clamp(static_cast<std::size_t>(execution_.threads()) * 4 * block_bytes, std::size_t{1} << 22U,
                      std::size_t{1} << 24U);
  }

  struct Block {
    explicit Block(const TripletRounds& all) : row_ids(all.rows_), col_ids(all.cols_) {}
    std::string_view text;
    typename Side::Own row_ids;
    typename Side::Own col_ids;
    NamedEntries found;
    EntryLines lines;  // counted from the first of the block
    Offset line_count = 0;
    bool bad = false;  // something is wrong with the last line that was counted
  };

  /// The text of a round into blocks of whole lines.
  void cut() {
    std::string_view rest(now_.room.data(), now_.bytes);
    used_ = 0;
    while (!rest.empty()) {
      std::size_t size = rest.size();
      if (size > block_bytes) {
        const std::size_t newline = rest.find('\n', block_bytes);
        if (newline != std::string_view::npos) size = newline + 1;
      }
      if (used_ == blocks_.size()) blocks_.emplace_back(*this);
      blocks_[used_++].text = rest.substr(0, size);
      rest.remove_prefix(size);
    }
  }

  /// All blocks, and the bytes of the next round.
  void read_blocks(std::size_t next_bytes) {
    next_.bytes = 0;
    next_.cut_off = false;
    const int fetching = now_.cut_off || ended_ ? 0 : 1;
    execution_.for_each_shard(static_cast<int>(used_) + fetching, [&](int shard) {
      if (shard >= fetching) return read(blocks_[static_cast<std::size_t>(shard - fetching)]);
      try {
        text_.lines.take(next_, next_bytes);
        ended_ = next_.bytes == 0 && !next_.cut_off;
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
  }

  void read(Block& block) const {
    Entries& entries = block.found.entries;
    clear(block);
    TripletParser parser(text_, missing_);
    const auto nowhere_yet = [] { return std::string(); };
    const bool zero = std::memchr(block.text.data(), 0, block.text.size()) != nullptr;
    Triplet triplet;
    LineCutter cutter(block.text);
    std::string_view line;
    try {
      while (cutter.next(line)) {
        ++block.line_count;
        if (zero && line.find('\0') != std::string_view::npos) fail_zero("");
        if (!parser.parse(line, triplet, nowhere_yet)) continue;
        block.lines.note(static_cast<Offset>(entries.value.size()), block.line_count);
        rows_.append(triplet.row, triplet.row_number, block.row_ids, entries.row);
        cols_.append(triplet.col, triplet.col_number, block.col_ids, entries.col);
        entries.value.push_back(triplet.value);
        if (text_.columns.weight != nowhere) block.found.weight.push_back(triplet.weight);
        if (text_.columns.time != nowhere) block.found.time.push_back(triplet.time);
      }
      rows_.append_waiting(block.row_ids, entries.row);
      cols_.append_waiting(block.col_ids, entries.col);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {  // thrown again by whoever knows the number of the line
      block.bad = true;
    }
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
    block.line_count = 0;
    block.bad = false;
  }

  /// Numbers what is new, and puts the entries where they belong.
  void settle_blocks() {
    NamedEntries& data = parsed_.data;
    std::vector<std::size_t> place(used_ + 1, data.entries.row.size());
    for (std::size_t b = 0; b < used_; ++b) {
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
    execution_.for_each_shard(static_cast<int>(used_), [&](int b) {
      const Block& block = blocks_[static_cast<std::size_t>(b)];
      const auto at = static_cast<std::ptrdiff_t>(place[static_cast<std::size_t>(b)]);
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
    bytes_ += now_.bytes;
    if (const auto size = text_.lines.size(); size && count > data.entries.row.capacity()) {
      const double guess = static_cast<double>(count) * static_cast<double>(*size) / static_cast<double>(bytes_);
      all = static_cast<std::size_t>(1.03 * guess);
      const double entry = 2 * sizeof(Index) + sizeof(Real) + (text_.columns.weight != nowhere ? sizeof(Real) : 0) +
                           (text_.columns.time != nowhere ? sizeof(double) : 0);
      constexpr double little = 1e7;  // to ask what there is takes longer than to read a small file
      if (guess > little)
        require_memory((guess - static_cast<double>(count)) * entry, available_memory(),
                       fmt::format("'{}': to read its {:.3g} entries", parsed_.name, guess));
    }
    const auto grow = [&](auto& list) {
      if (all > count) list.reserve(all);
      list.resize(count);
    };
    grow(data.entries.row);
    grow(data.entries.col);
    grow(data.entries.value);
    if (text_.columns.weight != nowhere) grow(data.weight);
    if (text_.columns.time != nowhere) grow(data.time);
  }

  /// The bad line again, with its number.
  [[noreturn]] void fail_in(const Block& block) {
    LineCutter cutter(block.text);
    std::string_view line;
    for (Offset k = 0; k < block.line_count; ++k) cutter.next(line);
    bad_line_ = line_ + block.line_count;
    const auto here = [&] { return at(bad_line_); };
    if (line.find('\0') != std::string_view::npos) fail_zero(here());
    TripletParser parser(text_, missing_);
    Triplet triplet;
    parser.parse(line, triplet, here);
    rows_.require(triplet.row);
    cols_.require(triplet.col);
    fail("{}: the line cannot be read: {}", here(), excerpt(line));
  }

  OpenedText text_;
  MissingMarks missing_;
  Execution execution_;
  Side rows_;
  Side cols_;
  LineReader::Lines now_;
  LineReader::Lines next_;
  bool ended_ = false;
  std::exception_ptr failure_;  // of fetching the next round
  std::vector<Block> blocks_;
  std::size_t used_ = 0;  // of the blocks, in this round
  ParsedEntries parsed_;
  EntryLines lines_;
  std::shared_ptr<const FileLines> files_;  // where there are several
  Offset line_;                             // the last one that was settled
  Offset bad_line_ = 0;                     // for messages
  std::uint64_t bytes_ = 0;
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
