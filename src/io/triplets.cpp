// Text lines "row col value [more]".
#include <algorithm>
#include <utility>

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
  Real value = 0;
  Real weight = 0;
  double time = 0;
};

/// A number that grows with time: the number that stands there, or the digits of a date that begins with its year.
double parse_time(std::string_view text, const LineReader& lines) {
  if (const std::optional<double> number = parse_number(text)) return *number;
  double digits = 0;
  for (const char c : text)
    if (c >= '0' && c <= '9') digits = 10 * digits + (c - '0');
  if (digits < 1e7)
    fail("{}: {} is not a time; a number or a date such as 2005-12-31 is needed", lines.here(), excerpt(text));
  return digits;
}

/// The lines of a text, with the first one put aside when it is a header.
struct OpenedText {
  LineReader lines;
  FieldSplitter splitter{Separator::blank};
  Columns columns;
  std::size_t needed = 0;           // fields of a line
  std::vector<std::string> header;  // empty: there is none

  OpenedText(ByteSource source, const ReadOptions& options, LineKind kind) : lines(std::move(source)) {
    const bool triplets = kind == LineKind::triplets;
    const FirstLines first = first_lines(lines.name(), lines.ahead(), triplets ? 3 : 2);
    std::string_view line;
    if (!next_leading_line(lines, line) || first.lines.empty())
      fail("'{}' is empty: lines of \"row column{}\" were expected", lines.name(), triplets ? " value" : "");
    splitter = FieldSplitter(first.separator);
    columns = find_columns(first, options.columns, kind);
    needed = columns.needed();
    if (columns.header) {
      header = first.fields.front();
    } else {
      lines.repeat();
    }
  }

  /// The fields of the next line that has any; null at the end.
  const std::vector<std::string_view>* next() {
    std::string_view line;
    while (lines.next(line)) {
      const auto& fields = splitter.split(line, needed);
      if (splitter.broken()) fail_quote(lines, line);
      if (fields.size() >= needed) return &fields;
      if (!trim(line).empty()) fail_fields(fields.size(), line);
    }
    return nullptr;
  }

 private:
  [[noreturn]] void fail_fields(std::size_t count, std::string_view line) const {
    fail("{}: {} field{} where at least {} are needed (row, column{}): {}", lines.here(), count, count == 1 ? "" : "s",
         needed, columns.value == nowhere ? "" : ", value", excerpt(line));
  }
};

class TripletLines {
 public:
  TripletLines(ByteSource source, const ReadOptions& options)
      : text_(std::move(source), options, LineKind::triplets), missing_(options.missing) {}

  bool next(Triplet& triplet) {
    const Columns& columns = text_.columns;
    while (const auto* fields = text_.next()) {
      const std::string_view value = (*fields)[columns.value];
      if (missing_.has(value)) continue;
      const auto here = [&] { return lines().here(); };
      triplet.row = (*fields)[columns.row];
      triplet.col = (*fields)[columns.col];
      triplet.value = parse_value(value, here);
      if (columns.weight != nowhere) triplet.weight = parse_value((*fields)[columns.weight], here);
      if (columns.time != nowhere) triplet.time = parse_time((*fields)[columns.time], lines());
      return true;
    }
    return false;
  }

  [[nodiscard]] const LineReader& lines() const { return text_.lines; }
  [[nodiscard]] const Columns& columns() const { return text_.columns; }

 private:
  OpenedText text_;
  MissingMarks missing_;
};

// Reads all lines; `index_row` and `index_col` turn ids into indices.
template <class IndexRow, class IndexCol>
ParsedEntries read_all(TripletLines& triplets, const IndexRow& index_row, const IndexCol& index_col) {
  ParsedEntries parsed;
  parsed.name = triplets.lines().name();
  NamedEntries& data = parsed.data;
  data.columns = triplets.columns().words;
  Entries& entries = data.entries;
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
    if (triplets.columns().weight != nowhere) data.weight.push_back(triplet.weight);
    if (triplets.columns().time != nowhere) data.time.push_back(triplet.time);
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

ParsedEntries read_triplets(ByteSource source, const ReadOptions& options) {
  TripletLines triplets(std::move(source), options);
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

ParsedEntries read_libmf(ByteSource source, const ReadOptions& options) {
  TripletLines triplets(std::move(source), options);
  ParsedEntries parsed =
      read_all(triplets, IndexReader("row", triplets.lines()), IndexReader("column", triplets.lines()));
  parsed.data.rows = one_more_than_largest(parsed.data.entries.row);
  parsed.data.cols = one_more_than_largest(parsed.data.entries.col);
  return parsed;
}

Pairs read_pairs(const std::string& path, const ReadOptions& options) {
  OpenedText text(open_source(path), options, LineKind::pairs);
  const Columns& columns = text.columns;
  Pairs pairs;
  if (columns.header) pairs.header = {text.header[columns.row], text.header[columns.col]};
  while (const auto* fields = text.next()) {
    const std::string_view row = (*fields)[columns.row];
    const std::string_view col = (*fields)[columns.col];
    if (row.empty() || col.empty()) fail("{}: a row id and a column id are needed", text.lines.here());
    pairs.row.emplace_back(row);
    pairs.col.emplace_back(col);
  }
  if (pairs.row.empty()) fail("'{}' holds a header but no pairs: lines of \"row column\" were expected", path);
  return pairs;
}

}  // namespace tracenorm::io
