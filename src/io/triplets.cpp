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
#include "io/triplet_parser.hpp"

namespace tracenorm::io {
namespace {

/// Text in whole lines, one after another.
class LineCutter {
 public:
  explicit LineCutter(std::string_view text) : rest_(text) {}
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const auto* newline = static_cast<const char*>(std::memchr(rest_.data(), '\n', rest_.size()));
    std::size_t size = newline != nullptr ? static_cast<std::size_t>(newline - rest_.data()) : rest_.size();
    line = rest_.substr(0, size);
    rest_.remove_prefix(newline != nullptr ? size + 1 : size);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }

 private:
  std::string_view rest_;
};

/// What follows belongs to a text that was opened elsewhere.
OpenedText opened_like(const OpenedText& text, ByteSource inside) {
  return {LineReader(std::move(inside), LineReader::Inside()), text};
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

template <class Side>
class TripletRounds {
 public:
  TripletRounds(ByteSource source, const ReadOptions& options, const char* row_what, const char* col_what)
      : TripletRounds(OpenedText(std::move(source), options, LineKind::triplets), options, row_what, col_what) {}

  TripletRounds(OpenedText text, const ReadOptions& options, const char* row_what, const char* col_what)
      : text_(std::move(text)),
        missing_(options.missing),
        execution_(options.threads),
        rows_(row_what, [this] { return at_line(text_.lines.name(), bad_line_); }),
        cols_(col_what, [this] { return at_line(text_.lines.name(), bad_line_); }),
        line_(text_.lines.line_number() - (text_.columns.header ? 0 : 1)) {}

  ParsedEntries run() {
    read();
    NamedEntries& data = parsed_.data;
    if (data.entries.row.empty())
      fail("'{}' holds a header but no entries: lines of \"row column value\" were expected", parsed_.name);
    data.rows = rows_.finish(data.entries.row, data.row_labels, execution_);
    data.cols = cols_.finish(data.entries.col, data.col_labels, execution_);
    parsed_.where = [lines = std::move(lines_)](Offset entry) { return fmt::format("line {}", lines.line(entry)); };
    return std::move(parsed_);
  }

  /// A stretch of a text, whose first line is the one behind `line`. Returns how many it has.
  Offset read_behind(Offset line) {
    line_ = line;
    read();
    return line_ - line;
  }
  /// What it read then, among ranks that have read the other stretches.
  TripletStretch finish(Ranks& ranks) {
    NamedEntries& data = parsed_.data;
    data.rows = rows_.finish(data.entries.row, data.row_labels, execution_, ranks);
    data.cols = cols_.finish(data.entries.col, data.col_labels, execution_, ranks);
    return {std::move(parsed_), std::move(lines_), 0};
  }

 private:
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
      if (now_.cut_off) fail_long(at_line(parsed_.name, line_ + 1));
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
    const auto here = [&] { return at_line(parsed_.name, bad_line_); };
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
  Offset line_;          // the last one that was settled
  Offset bad_line_ = 0;  // for messages
  std::uint64_t bytes_ = 0;
};

}  // namespace

ParsedEntries read_triplets(ByteSource source, const ReadOptions& options) {
  return TripletRounds<NamedSide>(std::move(source), options, "row id", "column id").run();
}

TripletStretch read_stretch(const TextParts& text, const ReadOptions& options, Ranks& ranks) {
  OpenedText opened(text.open(0), options, LineKind::triplets);
  const auto begin = static_cast<std::uint64_t>(opened.lines.position());
  const Offset first_line = opened.lines.line_number() - (opened.columns.header ? 0 : 1);
  const std::uint64_t size = std::max(text.size(), begin) - begin;
  const auto cut = [&](int rank) {  // before the product would grow too large
    const auto all = static_cast<std::uint64_t>(ranks.size());
    const auto r = static_cast<std::uint64_t>(rank);
    return begin + size / all * r + size % all * r / all;
  };
  using Rounds = TripletRounds<NamedSide>;
  std::optional<Rounds> rounds;
  const auto read = [&](Offset line) {
    OpenedText mine = opened_like(opened, stretch_of(text, begin, cut(ranks.rank()), cut(ranks.rank() + 1)));
    rounds.emplace(std::move(mine), options, "row id", "column id");
    return rounds->read_behind(line);
  };
  Offset lines = -1;
  std::exception_ptr failure;
  try {
    lines = read(0);
  } catch (const Error&) {  // who reads before this rank may have something to say, and knows how many lines there are
    failure = std::current_exception();
  }
  const std::vector<Offset> all = gathered(std::vector<Offset>{lines}, &ranks);
  const auto failed = std::find(all.begin(), all.end(), -1);
  const auto who = failed == all.end() ? ranks.rank() : static_cast<int>(failed - all.begin());
  const Offset before = std::accumulate(all.begin(), all.begin() + std::min(who, ranks.rank()), first_line);
  if (failed != all.end()) {
    if (who == ranks.rank()) {
      read(before);  // now with the numbers of the lines
      std::rethrow_exception(failure);
    }
    static_cast<void>(gathered(std::vector<Offset>{lines}, &ranks));  // it ends this one too
  }
  TripletStretch stretch = rounds->finish(ranks);
  stretch.lines_before = before;
  return stretch;
}

ParsedEntries read_libmf(ByteSource source, const ReadOptions& options) {
  return TripletRounds<CountedSide>(std::move(source), options, "row", "column").run();
}

Pairs read_pairs(const std::string& path, const ReadOptions& options) {
  OpenedText text(open_source(path), options, LineKind::pairs);
  const ColumnPlaces& columns = text.columns;
  Pairs pairs;
  if (columns.header) pairs.header = {text.header[columns.row], text.header[columns.col]};
  FieldSplitter splitter(text.separator);
  const auto here = [&] { return text.lines.here(); };
  std::string_view line;
  while (text.lines.next(line)) {
    const auto* fields = text.fields_of(line, splitter, here);
    if (fields == nullptr) continue;
    const std::string_view row = (*fields)[columns.row];
    const std::string_view col = (*fields)[columns.col];
    if (row.empty() || col.empty()) fail("{}: a row id and a column id are needed", here());
    pairs.row.emplace_back(row);
    pairs.col.emplace_back(col);
  }
  if (pairs.row.empty()) fail("'{}' holds a header but no pairs: lines of \"row column\" were expected", path);
  return pairs;
}

}  // namespace tracenorm::io
