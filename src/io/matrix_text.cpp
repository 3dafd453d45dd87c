// A full matrix as text: one line a row. The first line may name the columns, the first column the rows.
#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "io/columns.hpp"
#include "io/messages.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"
#include "io/utf8.hpp"

namespace tracenorm::io {
namespace {

/// What the lines of the text hold besides numbers.
struct TableLayout {
  bool header = false;
  bool row_names = false;     ///< in the first column
  bool short_header = false;  ///< nothing stands above the names of the rows, not even a separator
  std::vector<bool> skipped;  ///< by column: holds no values
};

class LayoutFinder {
 public:
  LayoutFinder(const FirstLines& first, const ReadOptions& options) : missing_(options.missing) {
    const auto& lines = first.fields;
    const std::vector<std::string>& top = lines.front();
    layout_.short_header = lines.size() > 1 && top.size() + 1 == lines[1].size();
    layout_.skipped.resize(top.size() + (layout_.short_header ? 1 : 0));
    for (const std::string& column : options.skip_columns)
      layout_.skipped[column_position(column, top, true, first.name, "skip_columns")] = true;
    const bool words_below = lines.size() > 1 && has_word(lines[1]);
    layout_.header = layout_.short_header || (lines.size() > 1 && has_word(top) && !words_below) ||
                     (lines.size() > 1 && is_word(top.front()) && !is_word(lines[1].front())) ||
                     (lines.size() > 1 && names_rows(top.front()) && (is_word(lines[1].front()) || counts(lines)));
    layout_.row_names = !layout_.skipped[0] && (layout_.short_header || (layout_.header && names_rows(top.front())) ||
                                                is_word(lines[layout_.header ? 1 : 0].front()));
  }
  [[nodiscard]] const TableLayout& layout() const { return layout_; }

 private:
  [[nodiscard]] bool is_word(const std::string& field) const {
    return !is_missing_word(field) && !parse_number(field) && !missing_.has(field);
  }
  // In the columns that may hold values: the first may name the rows.
  [[nodiscard]] bool has_word(const std::vector<std::string>& fields) const {
    for (std::size_t k = 1; k < fields.size(); ++k)
      if (!(k < layout_.skipped.size() && layout_.skipped[k]) && is_word(fields[k])) return true;
    return fields.size() == 1 && is_word(fields.front());
  }

  // Nothing in the corner, and whole numbers that grow to the right of it and below it: names, as a pivot has them.
  static bool counts(const std::vector<std::vector<std::string>>& lines) {
    std::optional<std::int64_t> last;
    const auto grows = [&](const std::string& field) {
      const std::optional<std::int64_t> number = parse_integer(field);
      const bool larger = number && (!last || *number > *last);
      last = number;
      return larger;
    };
    const std::vector<std::string>& top = lines.front();
    if (top.size() < 3 || !std::all_of(top.begin() + 1, top.end(), grows)) return false;
    last.reset();
    return lines.size() > 2 &&
           std::all_of(lines.begin() + 1, lines.end(), [&](const auto& line) { return grows(line.front()); });
  }

  MissingMarks missing_;
  TableLayout layout_;
};

void add_name(Labels& labels, std::set<std::string, std::less<>>& known, std::string_view name, const char* what,
              const LineReader& lines) {
  if (!is_utf8(name)) fail("{}: the {} name {} is not UTF-8 text", lines.here(), what, excerpt(name));
  if (!known.emplace(name).second)
    fail("{}: the {} name {} is given twice; names must differ", lines.here(), what, excerpt(name));
  labels.names.emplace_back(name);
}

std::string words_for(const TableLayout& layout) {
  std::string text = "a matrix, one line a row";
  if (layout.header) text += "; names of columns in the first line";
  if (layout.row_names) text += "; names of rows in the first column";
  const auto skipped = std::count(layout.skipped.begin(), layout.skipped.end(), true);
  return skipped == 0 ? text : fmt::format("{}; {} column{} skipped", text, skipped, skipped == 1 ? "" : "s");
}

}  // namespace

Matrix read_matrix_text(ByteSource source, const ReadOptions& options) {
  LineReader lines(std::move(source));
  const FirstLines first = first_lines(lines.name(), lines.ahead(), 2);
  if (first.lines.empty())
    fail("'{}' is empty: lines of numbers, one line a row of the matrix, were expected", lines.name());
  const TableLayout layout = LayoutFinder(first, options).layout();
  const MissingMarks missing(options.missing);
  FieldSplitter splitter(first.separator);
  Matrix matrix;
  matrix.columns = words_for(layout);
  std::set<std::string, std::less<>> known_rows;
  std::set<std::string, std::less<>> known_cols;
  const auto holds_value = [&](std::size_t k) { return !layout.skipped[k] && !(k == 0 && layout.row_names); };
  const auto place = [&](const Labels& names, Index column) {
    return names.names.empty() ? lines.here() : fmt::format("{}, column '{}'", lines.here(), names.name(column));
  };
  std::string_view line;
  bool header = layout.header;
  bool above = true;  // comments may stand above the first line
  while (lines.next(line)) {
    const std::string_view text = trim(line);
    if (text.empty() || (above && (text[0] == '#' || text[0] == '%'))) continue;
    above = false;
    const auto& fields = splitter.split(line);
    if (splitter.broken()) fail_quote(lines.here(), line);
    const std::size_t before = header && layout.short_header ? 1 : 0;
    if (fields.size() + before != layout.skipped.size()) {
      fail("{}: {} field{} where the first row has {}; all rows must have the same length", lines.here(), fields.size(),
           fields.size() == 1 ? "" : "s", layout.skipped.size());
    }
    if (header) {
      header = false;
      for (std::size_t k = 0; k < fields.size(); ++k)
        if (holds_value(k + before)) add_name(matrix.col_labels, known_cols, fields[k], "column", lines);
      continue;
    }
    if (layout.row_names) add_name(matrix.row_labels, known_rows, fields[0], "row", lines);
    Index values = 0;  // of this line
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (!holds_value(k)) continue;
      const bool hole = is_missing_word(fields[k]) || missing.has(fields[k]);
      matrix.value.push_back(hole ? std::numeric_limits<Real>::quiet_NaN()
                                  : parse_value(fields[k], [&] { return place(matrix.col_labels, values); }));
      ++values;
    }
    if (matrix.rows == std::numeric_limits<Index>::max()) fail("{}: more than {} rows", lines.here(), matrix.rows);
    ++matrix.rows;
  }
  if (matrix.value.empty()) fail("'{}' holds names but no numbers", lines.name());
  matrix.cols = static_cast<Index>(matrix.value.size() / static_cast<std::size_t>(matrix.rows));
  return matrix;
}

}  // namespace tracenorm::io
