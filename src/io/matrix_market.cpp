// Matrix Market: coordinate and array files, indices from 1.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/messages.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"

namespace tracenorm::io {
namespace {

constexpr int first_index = 1;

struct Banner {
  bool array = false;
  bool pattern = false;
  bool symmetric = false;
};

struct Size {
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;  ///< lines of data
};

constexpr const char* right_banner =
    "the first line must be '%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric'";

Banner parse_banner(std::string_view line, const std::string& where) {
  const std::string lower = to_lower(line);
  FieldSplitter splitter(Separator::blank);
  const auto& words = splitter.split(lower);
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix")
    fail("{}: {} is not a Matrix Market banner; {}", where, excerpt(line), right_banner);
  const auto one_of = [&](std::size_t word, std::initializer_list<std::string_view> choices) {
    if (std::find(choices.begin(), choices.end(), words[word]) == choices.end())
      fail("{}: Matrix Market {} is not read; {}", where, excerpt(words[word]), right_banner);
  };
  one_of(2, {"coordinate", "array"});
  one_of(3, {"real", "double", "integer", "pattern"});
  one_of(4, {"general", "symmetric"});
  const Banner banner{words[2] == "array", words[3] == "pattern", words[4] == "symmetric"};
  if (banner.array && banner.pattern) fail("{}: an array file cannot be a pattern; {}", where, right_banner);
  return banner;
}

std::int64_t parse_count(std::string_view text, const char* what, std::int64_t most, const std::string& where) {
  const std::optional<std::int64_t> count = parse_integer(text);
  if (!count || *count < 0) fail("{}: {} is not a number of {}; a whole number is needed", where, excerpt(text), what);
  if (*count > most) fail("{}: {} {} are more than the {} that are possible", where, *count, what, most);
  return *count;
}

Size parse_size(std::string_view line, const Banner& banner, const std::string& where) {
  FieldSplitter splitter(Separator::blank);
  const auto& fields = splitter.split(line);
  if (fields.size() != (banner.array ? 2U : 3U)) {
    fail("{}: {} is not the line of sizes; it must be \"{}\"", where, excerpt(line),
         banner.array ? "rows columns" : "rows columns entries");
  }
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  Size size;
  size.rows = static_cast<Index>(parse_count(fields[0], "rows", most, where));
  size.cols = static_cast<Index>(parse_count(fields[1], "columns", most, where));
  if (size.rows == 0 || size.cols == 0)
    fail("{}: the matrix is {} x {}: it has no entries", where, size.rows, size.cols);
  if (banner.symmetric && size.rows != size.cols)
    fail("{}: a symmetric matrix must be square, not {} x {}", where, size.rows, size.cols);
  if (banner.array) {
    size.entries = banner.symmetric ? Offset{size.rows} * (Offset{size.rows} + 1) / 2 : Offset{size.rows} * size.cols;
  } else {
    size.entries = parse_count(fields[2], "entries", std::numeric_limits<Offset>::max(), where);
    if (size.entries == 0) fail("{}: the file holds no entries", where);
  }
  return size;
}

/// Banner and sizes read, lines of data to come.
struct MarketFile {
  LineReader lines;
  Banner banner;
  Size size;

  explicit MarketFile(ByteSource source) : lines(std::move(source)) {
    std::string_view line;
    if (!lines.next(line)) fail("'{}' is empty: a Matrix Market file was expected", lines.name());
    banner = parse_banner(line, lines.here());
    if (!next_data(line)) fail("'{}' ends before the line of sizes", lines.name());
    size = parse_size(line, banner, lines.here());
  }

  bool next_data(std::string_view& line) {
    while (lines.next(line)) {
      const std::string_view text = trim(line);
      if (!text.empty() && text[0] != '%') return true;
    }
    return false;
  }

  /// The line of the next entry; an error when the file ends before.
  std::string_view require_data(Offset entries_so_far) {
    std::string_view line;
    if (!next_data(line)) {
      fail("'{}' ends early: {} entries were promised and {} are there; the file may be truncated", lines.name(),
           size.entries, entries_so_far);
    }
    return line;
  }

  void require_end() {
    std::string_view line;
    if (next_data(line)) fail("{}: more than the {} entries that were promised", lines.here(), size.entries);
  }

  /// How many entries to make room for: a damaged line of sizes must not take all memory.
  [[nodiscard]] std::size_t room() const {
    return static_cast<std::size_t>(std::min<Offset>(size.entries, Offset{1} << 22U));
  }
};

Index parse_index(std::string_view text, const char* what, Index count, const LineReader& lines) {
  const std::optional<std::int64_t> number = parse_integer(text);
  if (!number)
    fail("{}: {} is not a {} index; a whole number from 1 to {} is needed", lines.here(), excerpt(text), what, count);
  if (*number < first_index || *number > count)
    fail("{}: the {} index {} is outside of 1 to {}", lines.here(), what, *number, count);
  return static_cast<Index>(*number - first_index);
}

// The other triangle of a symmetric matrix, after all lines of the file so that entry k still is line k.
void mirror(Entries& entries) {
  const std::size_t stored = entries.row.size();
  for (std::size_t k = 0; k < stored; ++k) {
    if (entries.row[k] == entries.col[k]) continue;
    entries.row.push_back(entries.col[k]);
    entries.col.push_back(entries.row[k]);
    entries.value.push_back(entries.value[k]);
  }
}

ParsedEntries read_coordinates(MarketFile& file) {
  ParsedEntries parsed;
  parsed.name = file.lines.name();
  NamedEntries& data = parsed.data;
  data.rows = file.size.rows;
  data.cols = file.size.cols;
  data.row_labels.base = data.col_labels.base = first_index;
  Entries& entries = data.entries;
  entries.row.reserve(file.room());
  entries.col.reserve(file.room());
  entries.value.reserve(file.room());
  EntryLines lines;
  FieldSplitter splitter(Separator::blank);
  const std::size_t needed = file.banner.pattern ? 2 : 3;
  for (Offset k = 0; k < file.size.entries; ++k) {
    const std::string_view line = file.require_data(k);
    const auto& fields = splitter.split(line, needed);
    if (fields.size() < needed)
      fail("{}: {} fields where {} are needed: {}", file.lines.here(), fields.size(), needed, excerpt(line));
    lines.note(k, file.lines.line_number());
    entries.row.push_back(parse_index(fields[0], "row", data.rows, file.lines));
    entries.col.push_back(parse_index(fields[1], "column", data.cols, file.lines));
    entries.value.push_back(file.banner.pattern ? Real{1} : parse_value(fields[2], [&] { return file.lines.here(); }));
  }
  file.require_end();
  if (file.banner.symmetric) mirror(entries);
  const Offset stored = file.size.entries;
  parsed.where = [lines = std::move(lines), stored](Offset entry) {
    return entry < stored ? fmt::format("line {}", lines.line(entry)) : "the other triangle of the symmetric matrix";
  };
  return parsed;
}

Matrix read_array(MarketFile& file) {
  Matrix matrix;
  matrix.rows = file.size.rows;
  matrix.cols = file.size.cols;
  // The numbers first, in the order of the file: a line of sizes that lies then meets the end of the file, not of
  // memory.
  std::vector<Real> stored;
  stored.reserve(file.room());
  for (Offset k = 0; k < file.size.entries; ++k) {
    const std::string_view text = trim(file.require_data(k));
    stored.push_back(is_missing_word(text) ? std::numeric_limits<Real>::quiet_NaN()
                                           : parse_value(text, [&] { return file.lines.here(); }));
  }
  file.require_end();
  const auto rows = static_cast<std::size_t>(matrix.rows);
  const auto cols = static_cast<std::size_t>(matrix.cols);
  matrix.value.resize(rows * cols);
  std::size_t next = 0;
  for (std::size_t col = 0; col < cols; ++col) {
    for (std::size_t row = file.banner.symmetric ? col : 0; row < rows; ++row) {
      const Real value = stored[next++];
      matrix.value[row * cols + col] = value;
      if (file.banner.symmetric) matrix.value[col * cols + row] = value;
    }
  }
  return matrix;
}

}  // namespace

bool is_matrix_market(std::string_view head) {
  return to_lower(without_byte_order_mark(head).substr(0, 14)) == "%%matrixmarket";
}

bool is_matrix_market_array(ByteSource& source) {
  const std::string_view head = source.peek(256);
  const std::string banner = to_lower(head.substr(0, head.find('\n')));
  return is_matrix_market(head) && banner.find(" array") != std::string::npos;
}

ParsedEntries read_matrix_market(ByteSource source) {
  MarketFile file(std::move(source));
  if (file.banner.array) return entries_of(read_array(file), file.lines.name(), first_index);
  return read_coordinates(file);
}

Matrix read_matrix_market_array(ByteSource source) {
  MarketFile file(std::move(source));
  return read_array(file);
}

}  // namespace tracenorm::io
