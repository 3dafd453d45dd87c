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
#include "io/text_rounds.hpp"
#include "io/triplet_parser.hpp"
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

/// The names of one side.
class Names {
 public:
  Names(Labels& labels, const char* what) : labels_(labels), what_(what) {}

  /// `where` says the place of the name.
  template <class Where>
  void add(std::string_view name, const Where& where) {
    if (!is_utf8(name)) fail("{}: the {} name {} is not UTF-8 text", where(), what_, excerpt(name));
    if (!known_.emplace(name).second)
      fail("{}: the {} name {} is given twice; names must differ", where(), what_, excerpt(name));
    labels_.names.emplace_back(name);
  }

 private:
  Labels& labels_;
  const char* what_;
  std::set<std::string, std::less<>> known_;
};

std::string words_for(const TableLayout& layout) {
  std::string text = "a matrix, one line a row";
  if (layout.header) text += "; names of columns in the first line";
  if (layout.row_names) text += "; names of rows in the first column";
  const auto skipped = std::count(layout.skipped.begin(), layout.skipped.end(), true);
  return skipped == 0 ? text : fmt::format("{}; {} column{} skipped", text, skipped, skipped == 1 ? "" : "s");
}

class MatrixText {
 public:
  MatrixText(ByteSource source, const ReadOptions& options, const Execution& execution)
      : lines_(std::move(source)), missing_(options.missing), rounds_(lines_, execution) {
    const FirstLines first = first_lines(lines_.name(), lines_.ahead(), 2);
    if (first.lines.empty())
      fail("'{}' is empty: lines of numbers, one line a row of the matrix, were expected", lines_.name());
    separator_ = first.separator;
    layout_ = LayoutFinder(first, options).layout();
    matrix_.columns = words_for(layout_);
    for (std::size_t k = 0; k < layout_.skipped.size(); ++k) matrix_.cols += holds_value(k) ? 1 : 0;
    read_header();
  }

  Matrix run() {
    while (rounds_.next([&] { return at(line_ + 1); })) {
      rounds_.read(blocks_, Block(), [&](Block& block) { read(block); });
      settle_blocks();
    }
    if (matrix_.value.empty()) fail("'{}' holds names but no numbers", lines_.name());
    return std::move(matrix_);
  }

 private:
  struct Block : LineBlock {
    std::vector<Real> values;
    std::vector<std::string> names;  // of its rows
    EntryLines rows;                 // their lines, counted from the first of the block
    Offset row_count = 0;
  };

  [[nodiscard]] std::string at(Offset line) const { return at_line(lines_.name(), line); }
  [[nodiscard]] bool holds_value(std::size_t column) const {
    return !layout_.skipped[column] && !(column == 0 && layout_.row_names);
  }

  /// The fields of a line, of which the first `before` columns have none.
  template <class Where>
  const std::vector<std::string_view>& fields_of(std::string_view line, std::size_t before, FieldSplitter& splitter,
                                                 const Where& where) const {
    const auto& fields = splitter.split(line);
    if (splitter.broken()) fail_quote(where(), line);
    if (fields.size() + before != layout_.skipped.size()) {
      fail("{}: {} field{} where the first row has {}; all rows must have the same length", where(), fields.size(),
           fields.size() == 1 ? "" : "s", layout_.skipped.size());
    }
    return fields;
  }

  void read_header() {
    std::string_view line;
    next_leading_line(lines_, line);
    if (layout_.header) {
      FieldSplitter splitter(separator_);
      const auto here = [&] { return lines_.here(); };
      const std::size_t before = layout_.short_header ? 1 : 0;
      const auto& fields = fields_of(line, before, splitter, here);
      Names names(matrix_.col_labels, "column");
      for (std::size_t k = 0; k < fields.size(); ++k)
        if (holds_value(k + before)) names.add(fields[k], here);
      line_ = lines_.line_number();
    } else {
      line_ = lines_.line_number() - 1;
      lines_.repeat();
    }
  }

  /// A row of the matrix: its name goes to `use_name`, where it has one, and its numbers to `values`.
  template <class Where, class UseName>
  void parse(std::string_view line, FieldSplitter& splitter, const Where& where, const UseName& use_name,
             std::vector<Real>& values) const {
    const auto& fields = fields_of(line, 0, splitter, where);
    if (layout_.row_names) use_name(fields[0]);
    const Labels& names = matrix_.col_labels;
    Index column = 0;  // of those that hold values
    const auto place = [&] {
      return names.names.empty() ? where() : fmt::format("{}, column '{}'", where(), names.name(column));
    };
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (!holds_value(k)) continue;
      const bool hole = is_missing_word(fields[k]) || missing_.has(fields[k]);
      values.push_back(hole ? std::numeric_limits<Real>::quiet_NaN() : parse_value(fields[k], place));
      ++column;
    }
  }

  void read(Block& block) const {
    block.values.clear();
    block.names.clear();
    block.rows = {};
    block.row_count = 0;
    FieldSplitter splitter(separator_);
    const auto nowhere_yet = [] { return std::string(); };
    const auto keep_name = [&](std::string_view name) { block.names.emplace_back(name); };
    block.read_lines([&](std::string_view line) {
      if (trim(line).empty()) return;
      parse(line, splitter, nowhere_yet, keep_name, block.values);
      block.rows.note(block.row_count++, block.line_count);
    });
  }

  /// Checks the names, and puts rows behind those that are there.
  void settle_blocks() {
    std::vector<std::size_t> place(rounds_.blocks() + 1, matrix_.value.size());
    for (std::size_t b = 0; b < rounds_.blocks(); ++b) {
      const Block& block = blocks_[b];
      Offset row = 0;
      const auto here = [&] { return at(line_ + block.rows.line(row)); };
      for (; row < block.row_count; ++row) {
        if (layout_.row_names) row_names_.add(block.names[static_cast<std::size_t>(row)], here);
        if (matrix_.rows == std::numeric_limits<Index>::max()) fail("{}: more than {} rows", here(), matrix_.rows);
        ++matrix_.rows;
      }
      if (block.bad) fail_in(block);
      line_ += block.line_count;
      place[b + 1] = place[b] + static_cast<std::size_t>(block.row_count) * static_cast<std::size_t>(matrix_.cols);
    }
    grow(matrix_.value, place.back(), static_cast<std::size_t>(1.03 * rounds_.guess(place.back()).value_or(0)));
    rounds_.put([&](std::size_t b) {
      std::copy(blocks_[b].values.begin(), blocks_[b].values.end(),
                matrix_.value.begin() + static_cast<std::ptrdiff_t>(place[b]));
    });
  }

  [[noreturn]] void fail_in(const Block& block) {
    const auto here = [&] { return at(line_ + block.line_count); };
    block.fail_again(here, [&](std::string_view line) {
      FieldSplitter splitter(separator_);
      std::vector<Real> values;
      parse(
          line, splitter, here, [&](std::string_view name) { row_names_.add(name, here); }, values);
    });
  }

  LineReader lines_;
  MissingMarks missing_;
  TextRounds rounds_;
  Separator separator_ = Separator::blank;
  TableLayout layout_;
  Matrix matrix_;
  Names row_names_{matrix_.row_labels, "row"};
  std::vector<Block> blocks_;
  Offset line_ = 0;  // the last one that was settled
};

}  // namespace

Matrix read_matrix_text(ByteSource source, const ReadOptions& options, const Execution& execution) {
  return MatrixText(std::move(source), options, execution).run();
}

}  // namespace tracenorm::io
