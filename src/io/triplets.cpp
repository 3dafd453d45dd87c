// Text lines "row col value [more]".
#include <algorithm>
#include <array>
#include <utility>

#include "io/ids.hpp"
#include "io/messages.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"

namespace tracenorm::io {
namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// Which field holds what.
struct Columns {
  std::size_t row = 0;
  std::size_t col = 1;
  std::size_t value = 2;
};

// "userId", "user_id" and "User ID" are the same name.
std::string normalized(std::string_view name) {
  std::string plain;
  for (const char c : to_lower(name))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain.push_back(c);
  return plain;
}

template <std::size_t N>
std::size_t position_of(const std::vector<std::string_view>& fields, const std::array<std::string_view, N>& names) {
  for (std::size_t k = 0; k < fields.size(); ++k)
    if (std::find(names.begin(), names.end(), normalized(fields[k])) != names.end()) return k;
  return nowhere;
}

/// The columns that a header names, `nowhere` for those it does not.
Columns named_columns(const std::vector<std::string_view>& header) {
  static constexpr std::array<std::string_view, 10> rows = {"user", "userid",   "row",        "rowid", "i",
                                                            "u",    "customer", "customerid", "uid",   "rowindex"};
  static constexpr std::array<std::string_view, 15> cols = {"item",      "itemid", "movie",    "movieid",     "col",
                                                            "colid",     "column", "columnid", "j",           "product",
                                                            "productid", "iid",    "colindex", "columnindex", "v"};
  static constexpr std::array<std::string_view, 8> values = {"rating", "value", "val", "score", "stars", "r", "x", "y"};
  return {position_of(header, rows), position_of(header, cols), position_of(header, values)};
}

bool names_ids(const Columns& columns) { return columns.row != nowhere && columns.col != nowhere; }
bool names_all(const Columns& columns) { return names_ids(columns) && columns.value != nowhere; }

// A first line is a header when something that is not a number stands where the value belongs. "1 2 x" is not a header
// but a mistake, and neither is a line whose value is only missing.
bool is_header(const std::vector<std::string_view>& fields) {
  const Columns usual;
  if (fields.size() <= usual.value) return names_ids(named_columns(fields));
  if (parse_number(fields[usual.value]) || is_missing_word(fields[usual.value])) return false;
  return names_all(named_columns(fields)) || !parse_number(fields[usual.row]) || !parse_number(fields[usual.col]);
}

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
  Real value = 0;
};

/// Lines with their fields told apart: separator, header and order of columns come from the first line.
class TripletLines {
 public:
  explicit TripletLines(ByteSource source) : lines_(std::move(source)), splitter_(Separator::blank) {
    std::string_view line;
    if (!next_leading_line(lines_, line))
      fail("'{}' is empty: lines of \"row column value\" were expected", lines_.name());
    splitter_ = FieldSplitter(detect_separator(line, 3));
    const auto& fields = splitter_.split(line);
    if (is_header(fields)) {
      const Columns named = named_columns(fields);
      if (names_all(named)) columns_ = named;
    } else {
      lines_.repeat();
    }
    needed_ = std::max({columns_.row, columns_.col, columns_.value}) + 1;
  }

  bool next(Triplet& triplet) {
    std::string_view line;
    while (lines_.next(line)) {
      const auto& fields = splitter_.split(line, needed_);
      if (fields.size() < needed_) {
        if (trim(line).empty()) continue;
        fail_fields(fields.size(), line);
      }
      triplet.row = fields[columns_.row];
      triplet.col = fields[columns_.col];
      triplet.value = parse_value(fields[columns_.value], [&] { return lines_.here(); });
      return true;
    }
    return false;
  }

  [[nodiscard]] const LineReader& lines() const { return lines_; }

 private:
  [[noreturn]] void fail_fields(std::size_t count, std::string_view line) const {
    fail("{}: {} field{} where at least {} are needed (row, column, value): {}", lines_.here(), count,
         count == 1 ? "" : "s", needed_, excerpt(line));
  }

  LineReader lines_;
  FieldSplitter splitter_;
  Columns columns_;
  std::size_t needed_ = 3;
};

// Reads all lines; `index_row` and `index_col` turn ids into indices.
template <class IndexRow, class IndexCol>
ParsedEntries read_all(TripletLines& triplets, const IndexRow& index_row, const IndexCol& index_col) {
  ParsedEntries parsed;
  parsed.name = triplets.lines().name();
  Entries& entries = parsed.data.entries;
  EntryLines lines;
  Triplet triplet;
  while (triplets.next(triplet)) {
    constexpr Offset sample = 4096;  // enough lines to guess the number of all: memory is then taken once
    if (entries.size() == sample) {
      const std::size_t guess = entries.row.size() + triplets.lines().lines_left();
      const std::size_t room = guess + guess / 16;
      entries.row.reserve(room);
      entries.col.reserve(room);
      entries.value.reserve(room);
    }
    lines.note(entries.size(), triplets.lines().line_number());
    const Index row = index_row(triplet.row);
    const Index col = index_col(triplet.col);
    entries.row.push_back(row);
    entries.col.push_back(col);
    entries.value.push_back(triplet.value);
  }
  if (entries.row.empty())
    fail("'{}' holds a header but no entries: lines of \"row column value\" were expected", parsed.name);
  parsed.where = [lines = std::move(lines)](Offset entry) { return fmt::format("line {}", lines.line(entry)); };
  return parsed;
}

// An index from 0, for formats that count.
class IndexReader {
 public:
  IndexReader(const char* what, const LineReader& lines) : what_(what), lines_(lines) {}

  Index operator()(std::string_view text) const {
    const std::optional<std::int64_t> number = parse_integer(text);
    if (!number) {
      fail("{}: {} is not a {} index; LIBMF counts rows and columns by whole numbers from 0", lines_.here(),
           excerpt(text), what_);
    }
    if (*number < 0) fail("{}: the {} index {} is negative; LIBMF counts from 0", lines_.here(), what_, *number);
    if (*number >= std::numeric_limits<Index>::max()) {
      fail("{}: the {} index {} is too large; at most {} {}s are possible", lines_.here(), what_, *number,
           std::numeric_limits<Index>::max(), what_);
    }
    return static_cast<Index>(*number);
  }

 private:
  const char* what_;
  const LineReader& lines_;
};

Index one_more_than_largest(const std::vector<Index>& indices) {
  return *std::max_element(indices.begin(), indices.end()) + 1;
}

}  // namespace

bool names_triplet_columns(std::string_view line) {
  FieldSplitter splitter(detect_separator(line, 3));
  return names_all(named_columns(splitter.split(line)));
}

ParsedEntries read_triplets(ByteSource source) {
  TripletLines triplets(std::move(source));
  const auto here = [&] { return triplets.lines().here(); };
  IdMap rows("row id", here);
  IdMap cols("column id", here);
  ParsedEntries parsed = read_all(
      triplets, [&](std::string_view id) { return rows.add(id); }, [&](std::string_view id) { return cols.add(id); });
  NamedEntries& data = parsed.data;
  data.rows = rows.size();
  data.cols = cols.size();
  std::vector<Index> renumbered;
  data.row_labels = rows.finish(renumbered);
  renumber(data.entries.row, renumbered);
  data.col_labels = cols.finish(renumbered);
  renumber(data.entries.col, renumbered);
  return parsed;
}

ParsedEntries read_libmf(ByteSource source) {
  TripletLines triplets(std::move(source));
  ParsedEntries parsed =
      read_all(triplets, IndexReader("row", triplets.lines()), IndexReader("column", triplets.lines()));
  parsed.data.rows = one_more_than_largest(parsed.data.entries.row);
  parsed.data.cols = one_more_than_largest(parsed.data.entries.col);
  return parsed;
}

Pairs read_pairs(const std::string& path) {
  LineReader lines(open_source(path));
  std::string_view line;
  if (!next_leading_line(lines, line)) fail("'{}' is empty: lines of \"row column\" were expected", path);
  FieldSplitter splitter(detect_separator(line, 2));
  Columns columns = named_columns(splitter.split(line));
  if (!names_ids(columns)) {
    columns = {};
    lines.repeat();
  }
  const std::size_t needed = std::max(columns.row, columns.col) + 1;
  Pairs pairs;
  while (lines.next(line)) {
    const auto& fields = splitter.split(line, needed);
    if (fields.size() < needed && trim(line).empty()) continue;
    if (fields.size() < needed || fields[columns.row].empty() || fields[columns.col].empty())
      fail("{}: a row id and a column id are needed: {}", lines.here(), excerpt(line));
    pairs.row.emplace_back(fields[columns.row]);
    pairs.col.emplace_back(fields[columns.col]);
  }
  if (pairs.row.empty()) fail("'{}' holds a header but no pairs: lines of \"row column\" were expected", path);
  return pairs;
}

}  // namespace tracenorm::io
