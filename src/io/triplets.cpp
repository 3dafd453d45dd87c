// Text lines "row col value [more]", on all threads: a round is some megabytes of whole lines, cut into blocks that are
// read at once. Ids that are known are looked up meanwhile, and nobody adds any; the new ones of each block are added
// between two rounds, block by block, so that they are numbered in the order of the file. While the blocks of a round
// are read, one more thread fetches (and unpacks) the bytes of the next.
#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <utility>

#include "base/execution.hpp"
#include "base/memory.hpp"
#include "io/columns.hpp"
#include "io/ids.hpp"
#include "io/messages.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"

namespace tracenorm::io {
namespace {

// Comments may stand above the first line of data; further down '#' and '%' may begin an id.
bool next_leading_line(LineReader& lines, std::string_view& line) {
  while (lines.next(line)) {
    const std::string_view text = trim(line);
    if (!text.empty() && text[0] != '#' && text[0] != '%') return true;
  }
  return false;
}

struct Triplet {
  std::string_view row;
  std::string_view col;
  std::optional<std::int64_t> row_number;  // the id itself, where it was read as an integer on the way
  std::optional<std::int64_t> col_number;
  Real value = 0;
  Real weight = 0;
  double time = 0;
};

/// A number that grows with time: the number that stands there, or the digits of a date that begins with its year.
template <class Where>
double parse_time(std::string_view text, const Where& where) {
  if (const std::optional<double> number = parse_number(text)) return *number;
  double digits = 0;
  for (const char c : text)
    if (c >= '0' && c <= '9') digits = 10 * digits + (c - '0');
  if (digits < 1e7)
    fail("{}: {} is not a time; a number or a date such as 2005-12-31 is needed", where(), excerpt(text));
  return digits;
}

/// What is known of a text once its first lines are read; a header is put aside.
struct OpenedText {
  LineReader lines;
  Separator separator = Separator::blank;
  Columns columns;
  std::size_t needed = 0;           // fields of a line
  std::vector<std::string> header;  // empty: there is none

  OpenedText(ByteSource source, const ReadOptions& options, LineKind kind) : lines(std::move(source)) {
    const bool triplets = kind == LineKind::triplets;
    const FirstLines first = first_lines(lines.name(), lines.ahead(), triplets ? 3 : 2);
    std::string_view line;
    if (!next_leading_line(lines, line) || first.lines.empty())
      fail("'{}' is empty: lines of \"row column{}\" were expected", lines.name(), triplets ? " value" : "");
    separator = first.separator;
    columns = find_columns(first, options.columns, kind);
    needed = columns.needed();
    if (columns.header) {
      header = first.fields.front();
    } else {
      lines.repeat();
    }
  }

  /// The fields of a line; null where it has none. `where` says its place.
  template <class Where>
  const std::vector<std::string_view>* fields_of(std::string_view line, FieldSplitter& splitter,
                                                 const Where& where) const {
    const auto& fields = splitter.split(line, needed);
    if (splitter.broken()) fail_quote(where(), line);
    if (fields.size() >= needed) return &fields;
    if (!trim(line).empty()) {
      fail("{}: {} field{} where at least {} are needed (row, column{}): {}", where(), fields.size(),
           fields.size() == 1 ? "" : "s", needed, columns.value == nowhere ? "" : ", value", excerpt(line));
    }
    return nullptr;
  }
};

/// Reads lines of triplets. One for each thread.
class TripletParser {
 public:
  TripletParser(const OpenedText& text, const MissingMarks& missing)
      : text_(text), missing_(missing), splitter_(text.separator) {
    const Columns& c = text.columns;
    const char marks[] = {'\t', 0, ',', ';', 0};
    plain_mark_ = marks[static_cast<std::size_t>(text.separator)];
    plain_ = plain_mark_ != 0 && missing.empty() && c.weight == nowhere && c.time == nowhere;
  }

  /// False where the line holds nothing. `where` says its place.
  template <class Where>
  bool parse(std::string_view line, Triplet& triplet, const Where& where) {
    if (plain_ && parse_plain(line, triplet)) return true;
    const auto* fields = text_.fields_of(line, splitter_, where);
    if (fields == nullptr) return false;
    const Columns& columns = text_.columns;
    const std::string_view value = (*fields)[columns.value];
    if (missing_.has(value)) return false;
    triplet.row = (*fields)[columns.row];
    triplet.col = (*fields)[columns.col];
    triplet.row_number = parse_canonical_integer(triplet.row);
    triplet.col_number = parse_canonical_integer(triplet.col);
    triplet.value = parse_value(value, where);
    if (columns.weight != nowhere) triplet.weight = parse_value((*fields)[columns.weight], where);
    if (columns.time != nowhere) triplet.time = parse_time((*fields)[columns.time], where);
    return true;
  }

 private:
  /// What most lines are: integers as ids and a value such as 4 or 3.5, without blanks and quotes. False: look closer.
  bool parse_plain(std::string_view line, Triplet& triplet) const {
    const char* at = line.data();
    const char* const end = at + line.size();
    const Columns& columns = text_.columns;
    for (std::size_t field = 0; field < text_.needed; ++field) {
      const char* const begin = at;
      if (field == columns.row || field == columns.col) {
        std::int64_t number = 0;
        for (; at != end && *at >= '0' && *at <= '9'; ++at) number = 10 * number + (*at - '0');
        const auto digits = at - begin;
        if (digits == 0 || digits > 18 || (*begin == '0' && digits > 1)) return false;
        (field == columns.row ? triplet.row_number : triplet.col_number) = number;
        (field == columns.row ? triplet.row : triplet.col) = {begin, static_cast<std::size_t>(digits)};
      } else if (field == columns.value) {
        const auto digit = [&](std::ptrdiff_t k) { return end - at > k && at[k] >= '0' && at[k] <= '9'; };
        if (!digit(0)) return false;
        double value = *at++ - '0';
        if (digit(1) && *at == '.') {
          value = (10 * value + (at[1] - '0')) / 10;
          at += 2;
        }
        triplet.value = static_cast<Real>(value);
      } else {
        if (at != end && (*at == '"' || *at == ' ')) return false;
        while (at != end && *at != plain_mark_) ++at;
      }
      if (at == end ? field + 1 != text_.needed : *at++ != plain_mark_) return false;
    }
    return true;
  }

  const OpenedText& text_;
  const MissingMarks& missing_;
  FieldSplitter splitter_;
  char plain_mark_ = 0;
  bool plain_ = false;
};

/// The ids of one side, by name.
class NamedSide {
 public:
  /// `where` says the place of the line that is read again because something is wrong with it.
  NamedSide(const char* what, std::function<std::string()> where) : what_(what), known_(what, std::move(where)) {}

  /// What a block knows beside that.
  struct Own {
    explicit Own(const NamedSide& side) : added(side.what_, [] { return std::string(); }) {}
    IdMap added;
    std::vector<Index> indices;         // of those, once they have some
    std::vector<std::int64_t> waiting;  // integers whose places in the table are on their way from memory
  };

  /// Appends the index of an id; below zero: -1 less its place among what the block has added.
  void append(std::string_view id, const std::optional<std::int64_t>& number, Own& own,
              std::vector<Index>& indices) const {
    constexpr std::size_t at_once = 32;
    if (own.waiting.size() == at_once || !number) append_waiting(own, indices);
    if (number) {
      known_.prefetch(*number);
      own.waiting.push_back(*number);
    } else {
      const Index known = known_.find(id);
      indices.push_back(known >= 0 ? known : -1 - own.added.add(id));
    }
  }
  void append_waiting(Own& own, std::vector<Index>& indices) const {
    for (const std::int64_t number : own.waiting) {
      const Index known = known_.find(number);
      indices.push_back(known >= 0 ? known : -1 - own.added.add(number));
    }
    own.waiting.clear();
  }
  void settle(Own& own) { known_.add(own.added, own.indices); }
  static Index settled(Index index, const Own& own) {
    const Index added = -1 - index;
    return index >= 0 ? index : own.indices[static_cast<std::size_t>(added)];
  }
  static void forget(Own& own) {
    own.added.clear();
    own.waiting.clear();
  }
  void require(std::string_view id) { known_.add(id); }

  Index finish(std::vector<Index>& indices, Labels& labels, const Execution& execution) const {
    std::vector<Index> renumbered;
    labels = known_.finish(renumbered);
    renumber(indices, renumbered, execution);
    return known_.size();
  }

 private:
  const char* what_;
  IdMap known_;
};

/// Indices from 0, for formats that count.
class CountedSide {
 public:
  CountedSide(const char* what, std::function<std::string()> where) : what_(what), where_(std::move(where)) {}

  struct Own {
    explicit Own(const CountedSide& /*side*/) {}
  };
  void append(std::string_view id, const std::optional<std::int64_t>& /*number*/, Own& /*own*/,
              std::vector<Index>& indices) const {
    indices.push_back(checked(id, ""));
  }
  static void append_waiting(Own& /*own*/, std::vector<Index>& /*indices*/) {}
  static void settle(Own& /*own*/) {}
  static Index settled(Index index, const Own& /*own*/) { return index; }
  static void forget(Own& /*own*/) {}
  void require(std::string_view id) const { static_cast<void>(checked(id, where_())); }

  static Index finish(const std::vector<Index>& indices, const Labels& /*labels*/, const Execution& /*execution*/) {
    return *std::max_element(indices.begin(), indices.end()) + 1;
  }

 private:
  [[nodiscard]] Index checked(std::string_view text, const std::string& where) const {
    const std::optional<std::int64_t> number = parse_integer(text);
    if (!number) {
      fail("{}: {} is not a {} index; LIBMF counts rows and columns by whole numbers from 0", where, excerpt(text),
           what_);
    }
    if (*number < 0) fail("{}: the {} index {} is negative; LIBMF counts from 0", where, what_, *number);
    if (*number >= std::numeric_limits<Index>::max()) {
      fail("{}: the {} index {} is too large; at most {} {}s are possible", where, what_, *number,
           std::numeric_limits<Index>::max(), what_);
    }
    return static_cast<Index>(*number);
  }

  const char* what_;
  std::function<std::string()> where_;
};

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

template <class Side>
class TripletRounds {
 public:
  TripletRounds(ByteSource source, const ReadOptions& options, const char* row_what, const char* col_what)
      : text_(std::move(source), options, LineKind::triplets),
        missing_(options.missing),
        execution_(options.threads),
        rows_(row_what, [this] { return at_line(text_.lines.name(), bad_line_); }),
        cols_(col_what, [this] { return at_line(text_.lines.name(), bad_line_); }),
        line_(text_.lines.line_number() - (text_.columns.header ? 0 : 1)) {}

  ParsedEntries run() {
    parsed_.name = text_.lines.name();
    NamedEntries& data = parsed_.data;
    data.columns = text_.columns.words;
    std::size_t bytes = block_bytes;
    text_.lines.take(now_, bytes);
    while (now_.bytes > 0 || now_.cut_off) {
      cut();
      bytes = std::min(4 * bytes, round_bytes);  // small ones first: what they add, later ones know
      read_blocks(bytes);
      settle_blocks();
      if (now_.cut_off) fail_long(at_line(parsed_.name, line_ + 1));
      if (failure_) std::rethrow_exception(failure_);
      std::swap(now_, next_);
    }
    if (data.entries.row.empty())
      fail("'{}' holds a header but no entries: lines of \"row column value\" were expected", parsed_.name);
    data.rows = rows_.finish(data.entries.row, data.row_labels, execution_);
    data.cols = cols_.finish(data.entries.col, data.col_labels, execution_);
    parsed_.where = [lines = std::move(lines_)](Offset entry) { return fmt::format("line {}", lines.line(entry)); };
    return std::move(parsed_);
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t{1} << 18U;
  static constexpr std::size_t round_bytes = std::size_t{1} << 24U;

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

ParsedEntries read_libmf(ByteSource source, const ReadOptions& options) {
  return TripletRounds<CountedSide>(std::move(source), options, "row", "column").run();
}

Pairs read_pairs(const std::string& path, const ReadOptions& options) {
  OpenedText text(open_source(path), options, LineKind::pairs);
  const Columns& columns = text.columns;
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
