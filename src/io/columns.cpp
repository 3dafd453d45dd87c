#include "io/columns.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "io/messages.hpp"

namespace tracenorm::io {
namespace {

using Fields = std::vector<std::string>;

constexpr std::array<std::string_view, 14> row_names = {"user",   "userid",   "row",        "rowid",     "i",
                                                        "u",      "customer", "customerid", "uid",       "rowindex",
                                                        "member", "memberid", "reviewer",   "reviewerid"};
constexpr std::array<std::string_view, 22> col_names = {
    "item",   "itemid",  "movie",     "movieid", "col",      "colid",       "column", "columnid",
    "j",      "product", "productid", "iid",     "colindex", "columnindex", "v",      "film",
    "filmid", "book",    "bookid",    "isbn",    "song",     "songid"};
constexpr std::array<std::string_view, 9> value_names = {"rating", "value", "val", "score",     "stars",
                                                         "r",      "x",     "y",   "bookrating"};
constexpr std::array<std::string_view, 3> weight_names = {"weight", "weights", "w"};
constexpr std::array<std::string_view, 7> time_names = {"timestamp", "time",     "date", "datetime",
                                                        "ts",        "unixtime", "day"};

// "userId", "user_id" and "User ID" are the same name.
std::string normalized(std::string_view name) {
  std::string plain;
  for (const char c : to_lower(name))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain.push_back(c);
  return plain;
}

std::size_t position_of(const Fields& fields, std::span<const std::string_view> names) {
  for (std::size_t k = 0; k < fields.size(); ++k)
    if (std::find(names.begin(), names.end(), normalized(fields[k])) != names.end()) return k;
  return nowhere;
}

ColumnPlaces named_columns(const Fields& header) {
  return {position_of(header, row_names),
          position_of(header, col_names),
          position_of(header, value_names),
          position_of(header, weight_names),
          position_of(header, time_names),
          true,
          {}};
}

bool names_ids(const ColumnPlaces& columns) { return columns.row != nowhere && columns.col != nowhere; }
bool names_all(const ColumnPlaces& columns) { return names_ids(columns) && columns.value != nowhere; }

bool is_number_or_hole(std::string_view field) { return is_missing_word(field) || parse_number(field).has_value(); }

// Pairs are names, which may be anything. A line of known words is a header, and so is one above ids that are all
// integers when its own is none.
bool is_pair_header(const FirstLines& first) {
  const Fields& header = first.fields.front();
  const ColumnPlaces named = named_columns(header);
  if (names_ids(named)) return true;
  const bool half_named =
      (named.row != nowhere && header[named.row].size() > 2) || (named.col != nowhere && header[named.col].size() > 2);
  if (half_named) return true;
  for (std::size_t side = 0; side < std::min<std::size_t>(2, header.size()); ++side) {
    if (first.fields.size() < 2 || parse_integer(header[side])) continue;
    if (std::all_of(first.fields.begin() + 1, first.fields.end(),
                    [&](const Fields& fields) { return fields.size() > side && parse_integer(fields[side]); }))
      return true;
  }
  return false;
}

// A Unix time, or a date that begins with its year.
bool is_time(std::string_view field) {
  const std::optional<double> number = parse_number(field);
  if (number) return *number >= 1e8 && *number < 1e14;
  return field.size() >= 10 && parse_integer(field.substr(0, 4)) && field[4] == '-' && field[7] == '-';
}

// What MovieLens calls its ratings.
bool has_known_name(const std::string& file) {
  const std::string name = to_lower(file.substr(file.find_last_of("/:") + 1));
  return name.starts_with("u.data") || name.starts_with("ratings.");
}

bool fourth_is_time(const FirstLines& first) {
  return has_known_name(first.name) || std::all_of(first.fields.begin(), first.fields.end(), [](const Fields& fields) {
           return fields.size() == 4 && is_time(fields[3]);
         });
}

[[noreturn]] void fail_unexplained(const FirstLines& first, LineKind kind) {
  std::string sample;
  for (std::size_t k = 0; k < std::min<std::size_t>(3, first.lines.size()); ++k)
    sample += "\n    " + first.lines[k].substr(0, 100);
  fail_for("columns",
           "'{}' has {} columns, and nothing says which of them hold {}:{}\nIf each line is a row of a matrix, say so "
           "(format 'matrix'); otherwise choose columns by name or number, such as 2,3,4,",
           first.name, first.fields.front().size(),
           kind == LineKind::triplets ? "row, column and value" : "row and column", sample);
}

/// Fills the places that no name explains, in order, when there are as many columns left as places.
void fill_rest(ColumnPlaces& columns, const FirstLines& first, LineKind kind) {
  std::vector<std::size_t> rest;
  for (std::size_t k = 0; k < first.fields.front().size(); ++k) {
    if (k != columns.row && k != columns.col && k != columns.value && k != columns.weight && k != columns.time)
      rest.push_back(k);
  }
  std::vector<std::size_t*> places;
  for (std::size_t* place : {&columns.row, &columns.col, &columns.value})
    if (*place == nowhere) places.push_back(place);
  if (columns.value == nowhere && rest.size() + 1 == places.size()) {
    // A lone weight is the value, as in "source target weight". Pairs need none.
    if (kind == LineKind::triplets) columns.value = std::exchange(columns.weight, nowhere);
    places.pop_back();
  }
  if (rest.size() == places.size()) {
    for (std::size_t k = 0; k < rest.size(); ++k) *places[k] = rest[k];
  }
  if (!names_ids(columns) || (kind == LineKind::triplets && columns.value == nowhere)) fail_unexplained(first, kind);
}

ColumnPlaces chosen_columns(const FirstLines& first, const std::vector<std::string>& chosen, LineKind kind) {
  const std::size_t least = kind == LineKind::triplets ? 3 : 2;
  if (chosen.size() < least || chosen.size() > 5)
    fail_for("columns", "{} columns were chosen; give row, column, value and, where there are, weight and time",
             chosen.size());
  const Fields& fields = first.fields.front();
  const bool by_name = std::any_of(chosen.begin(), chosen.end(),
                                   [](const std::string& word) { return !word.empty() && !parse_integer(word); });
  ColumnPlaces columns;
  columns.value = nowhere;
  std::size_t* const places[] = {&columns.row, &columns.col, &columns.value, &columns.weight, &columns.time};
  for (std::size_t k = 0; k < chosen.size(); ++k)
    *places[k] =
        chosen[k].empty() && k >= least ? nowhere : column_position(chosen[k], fields, by_name, first.name, "columns");
  columns.header = by_name || (kind == LineKind::triplets && is_triplet_header(fields, columns.value));
  return columns;
}

std::string words_for(const ColumnPlaces& columns, const Fields& header) {
  const auto name = [&](std::size_t k) { return columns.header ? excerpt(header[k]) : fmt::format("{}", k + 1); };
  std::string text = fmt::format("row {}, column {}", name(columns.row), name(columns.col));
  for (const auto& [what, k] :
       {std::pair("value", columns.value), std::pair("weight", columns.weight), std::pair("time", columns.time)})
    if (k != nowhere) text += fmt::format(", {} {}", what, name(k));
  std::vector<std::string> unused;
  for (std::size_t k = 0; k < header.size(); ++k) {
    if (k != columns.row && k != columns.col && k != columns.value && k != columns.weight && k != columns.time)
      unused.push_back(name(k));
  }
  return unused.empty() ? text : fmt::format("{}; not used: {}", text, listing(unused, 5));
}

}  // namespace

// "1 2 x" is not a header but a mistake, and neither is a line whose value is only missing.
bool is_triplet_header(const Fields& fields, std::size_t value) {
  if (fields.size() <= value) return names_ids(named_columns(fields));
  if (is_number_or_hole(fields[value])) return false;
  return names_all(named_columns(fields)) || !parse_number(fields[0]) || !parse_number(fields[1]);
}

FirstLines first_lines(const std::string& name, std::string_view text, std::size_t fields) {
  constexpr std::size_t most = 20;
  FirstLines first;
  first.name = name;
  text = without_byte_order_mark(text);
  while (!text.empty() && first.lines.size() < most) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    // The last line of a block may go on: it counts only when it is the only one.
    if (end == std::string_view::npos && !first.lines.empty()) break;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view content = trim(line);
    if (content.empty() || (first.lines.empty() && (content[0] == '#' || content[0] == '%'))) continue;
    if (first.lines.empty()) first.separator = detect_separator(line, fields);
    FieldSplitter splitter(first.separator);
    const auto& cut = splitter.split(line);
    first.fields.emplace_back(cut.begin(), cut.end());
    first.lines.emplace_back(line);
  }
  return first;
}

std::size_t ColumnPlaces::needed() const {
  std::size_t most = 0;
  for (const std::size_t k : {row, col, value, weight, time})
    if (k != nowhere) most = std::max(most, k + 1);
  return most;
}

std::size_t column_position(const std::string& wanted, const Fields& fields, bool by_name, const std::string& file,
                            const char* setting) {
  if (by_name) {
    for (std::size_t k = 0; k < fields.size(); ++k)
      if (fields[k] == wanted) return k;
  }
  const std::optional<std::int64_t> number = parse_integer(wanted);
  if (number && *number >= 1 && static_cast<std::size_t>(*number) <= fields.size())
    return static_cast<std::size_t>(*number) - 1;
  if (number)
    fail_for(setting, "'{}' has {} columns, so there is no column {}; choose others", file, fields.size(), *number);
  fail_for(setting, "'{}' has no column {}: its first line is {}; choose by name or number", file, excerpt(wanted),
           listing(fields));
}

ColumnPlaces find_columns(const FirstLines& first, const std::vector<std::string>& chosen, LineKind kind) {
  const Fields& fields = first.fields.front();
  ColumnPlaces columns;
  if (!chosen.empty()) {
    columns = chosen_columns(first, chosen, kind);
  } else if (kind == LineKind::triplets ? is_triplet_header(fields, 2) : is_pair_header(first)) {
    columns = named_columns(fields);
    const bool complete = kind == LineKind::triplets ? names_all(columns) : names_ids(columns);
    if (!complete) fill_rest(columns, first, kind);
    columns.time = nowhere;  // read on demand only: it takes as much memory as all the rest
  } else {
    if (fields.size() > 3 && !fourth_is_time(first)) fail_unexplained(first, kind);
    if (kind == LineKind::pairs) columns.value = nowhere;
  }
  if (kind == LineKind::pairs) columns.value = columns.weight = columns.time = nowhere;
  columns.words = words_for(columns, fields);
  return columns;
}

bool names_triplet_columns(const FirstLines& first) {
  return !first.fields.empty() && names_all(named_columns(first.fields.front()));
}

bool names_rows(std::string_view word) {
  const std::string name = normalized(word);
  return name.empty() || name == "id" || name == "name" || name == "index" ||
         (name.size() > 2 && std::find(row_names.begin(), row_names.end(), name) != row_names.end());
}

bool is_wide(const FirstLines& first) {
  constexpr std::size_t enough = 16;            // fewer may be triplets with more columns
  constexpr std::size_t enough_with_names = 5;  // unless the header says that the rest are columns of a matrix
  if (first.fields.empty()) return false;
  const Fields& top = first.fields.front();
  const std::size_t from = first.fields.size() > 1 ? 1 : 0;  // the first line may be names
  const std::size_t width = first.fields[from].size();
  const ColumnPlaces named = named_columns(top);
  const bool names = names_rows(top.front()) && named.col == nowhere && named.value == nowhere &&
                     named.weight == nowhere && named.time == nowhere &&
                     std::none_of(top.begin() + 1, top.end(), [](const auto& word) { return is_number_or_hole(word); });
  if (width < (names ? enough_with_names : enough)) return false;
  return std::all_of(
      first.fields.begin() + static_cast<std::ptrdiff_t>(from), first.fields.end(), [&](const Fields& fields) {
        return fields.size() == width && std::all_of(fields.begin() + 1, fields.end(), is_number_or_hole);
      });
}

}  // namespace tracenorm::io
