// A full matrix as text: one line a row.
#include <limits>
#include <utility>

#include "io/messages.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"

namespace tracenorm::io {
namespace {

bool has_number(const std::vector<std::string_view>& fields) {
  for (const std::string_view field : fields)
    if (parse_number(field)) return true;
  return false;
}

void add_row(Matrix& matrix, const std::vector<std::string_view>& fields, const LineReader& lines) {
  if (fields.size() != static_cast<std::size_t>(matrix.cols)) {
    fail("{}: {} numbers where the first row has {}; all rows must have the same length", lines.here(), fields.size(),
         matrix.cols);
  }
  for (const std::string_view field : fields) {
    matrix.value.push_back(is_missing_word(field) ? std::numeric_limits<Real>::quiet_NaN()
                                                  : parse_value(field, [&] { return lines.here(); }));
  }
  if (matrix.rows == std::numeric_limits<Index>::max()) fail("{}: more than {} rows", lines.here(), matrix.rows);
  ++matrix.rows;
}

}  // namespace

Matrix read_matrix_text(ByteSource source) {
  LineReader lines(std::move(source));
  Matrix matrix;
  FieldSplitter splitter(Separator::blank);
  std::string_view line;
  bool header_possible = true;
  while (lines.next(line)) {
    const std::string_view text = trim(line);
    if (text.empty() || (matrix.rows == 0 && (text[0] == '#' || text[0] == '%'))) continue;
    if (matrix.rows == 0) splitter = FieldSplitter(detect_separator(line, 2));
    const auto& fields = splitter.split(line);
    // One line of column names may stand above the numbers.
    const bool header = header_possible && !has_number(fields) && !is_missing_word(fields.front());
    header_possible = false;
    if (header) continue;
    if (matrix.rows == 0) matrix.cols = static_cast<Index>(fields.size());
    add_row(matrix, fields, lines);
  }
  if (matrix.rows == 0)
    fail("'{}' is empty: lines of numbers, one line a row of the matrix, were expected", lines.name());
  return matrix;
}

}  // namespace tracenorm::io
