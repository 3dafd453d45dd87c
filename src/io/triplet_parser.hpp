// A text of triplets as it is opened (separator, columns, header), and its lines one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/columns.hpp"
#include "io/messages.hpp"
#include "io/text.hpp"

namespace tracenorm::io {

/// Comments may stand above the first line of data; further down '#' and '%' may begin an id.
inline bool next_leading_line(LineReader& lines, std::string_view& line) {
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
  ColumnPlaces columns;
  std::size_t needed = 0;           // fields of a line
  std::size_t width = 0;            // fields of the first line of data
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
    width = first.fields[columns.header && first.fields.size() > 1 ? 1 : 0].size();
    if (columns.header) {
      header = first.fields.front();
    } else {
      lines.repeat();
    }
  }

  /// More lines of a text that was opened elsewhere.
  OpenedText(LineReader more, const OpenedText& like)
      : lines(std::move(more)),
        separator(like.separator),
        columns(like.columns),
        needed(like.needed),
        width(like.width),
        header(like.header) {}

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

/// What follows belongs to a text that was opened elsewhere.
inline OpenedText opened_like(const OpenedText& text, ByteSource inside) {
  return {LineReader(std::move(inside), LineReader::Inside()), text};
}

/// Reads lines of triplets. One for each thread.
class TripletParser {
 public:
  TripletParser(const OpenedText& text, const MissingMarks& missing)
      : text_(text), missing_(missing), splitter_(text.separator) {
    const ColumnPlaces& c = text.columns;
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
    const ColumnPlaces& columns = text_.columns;
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
    const ColumnPlaces& columns = text_.columns;
    for (std::size_t field = 0; field < text_.needed; ++field) {
      const char* const begin = at;
      if (field == columns.row || field == columns.col) {
        std::int64_t number = 0;
        constexpr std::ptrdiff_t most = 18;  // digits that fit for certain
        for (; at != end && *at >= '0' && *at <= '9'; ++at) {
          if (at - begin == most) return false;
          number = 10 * number + (*at - '0');
        }
        const auto digits = at - begin;
        if (digits == 0 || (*begin == '0' && digits > 1)) return false;
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

}  // namespace tracenorm::io
