// Matrix Market: coordinate and array files, indices from 1.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/execution.hpp"
#include "io/loops.hpp"
#include "io/messages.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"
#include "io/text_rounds.hpp"

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

bool is_data(std::string_view line) {
  const std::string_view text = trim(line);
  return !text.empty() && text[0] != '%';
}

template <class Where>
Index parse_index(std::string_view text, const char* what, Index count, const Where& where) {
  const std::optional<std::int64_t> number = parse_integer(text);
  if (!number)
    fail("{}: {} is not a {} index; a whole number from 1 to {} is needed", where(), excerpt(text), what, count);
  if (*number < first_index || *number > count)
    fail("{}: the {} index {} is outside of 1 to {}", where(), what, *number, count);
  return static_cast<Index>(*number - first_index);
}

/// Reads lines of data. One for each thread.
class MarketParser {
 public:
  MarketParser(const Banner& banner, const Size& size) : banner_(banner), size_(size) {}

  /// Appends what the line holds. `where` says its place.
  template <class Where>
  void parse(std::string_view line, Entries& found, const Where& where) {
    if (banner_.array) {
      const std::string_view text = trim(line);
      found.value.push_back(is_missing_word(text) ? std::numeric_limits<Real>::quiet_NaN() : parse_value(text, where));
      return;
    }
    const std::size_t needed = banner_.pattern ? 2 : 3;
    const auto& fields = splitter_.split(line, needed);
    if (fields.size() < needed)
      fail("{}: {} fields where {} are needed: {}", where(), fields.size(), needed, excerpt(line));
    found.row.push_back(parse_index(fields[0], "row", size_.rows, where));
    found.col.push_back(parse_index(fields[1], "column", size_.cols, where));
    found.value.push_back(banner_.pattern ? Real{1} : parse_value(fields[2], where));
  }

 private:
  const Banner& banner_;
  const Size& size_;
  FieldSplitter splitter_{Separator::blank};
};

class MarketFile {
 public:
  MarketFile(ByteSource source, const Execution& execution)
      : lines_(std::move(source)), execution_(execution), rounds_(lines_, execution) {
    std::string_view line;
    if (!lines_.next(line)) fail("'{}' is empty: a Matrix Market file was expected", lines_.name());
    banner_ = parse_banner(line, lines_.here());
    do {
      if (!lines_.next(line)) fail("'{}' ends before the line of sizes", lines_.name());
    } while (!is_data(line));
    size_ = parse_size(line, banner_, lines_.here());
    line_ = lines_.line_number();
    read();
  }

  [[nodiscard]] bool is_array() const { return banner_.array; }
  [[nodiscard]] const std::string& name() const { return lines_.name(); }
  ParsedEntries coordinates();
  Matrix array();

 private:
  struct Block : LineBlock {
    Entries found;
    Offset data_lines = 0;
    EntryLines lines;  // counted from the first of the block
  };

  void read() {
    while (rounds_.next([&] { return at_line(name(), line_ + 1); })) {
      rounds_.read(blocks_, Block(), [&](Block& block) { read(block); });
      settle_blocks();
    }
    if (count_ < size_.entries) {
      fail("'{}' ends early: {} entries were promised and {} are there; the file may be truncated", name(),
           size_.entries, count_);
    }
  }

  void read(Block& block) const {
    block.found.row.clear();
    block.found.col.clear();
    block.found.value.clear();
    block.data_lines = 0;
    block.lines = {};
    MarketParser parser(banner_, size_);
    block.read_lines([&](std::string_view line) {
      if (!is_data(line)) return;
      block.lines.note(block.data_lines++, block.line_count);
      parser.parse(line, block.found, [] { return std::string(); });
    });
  }

  void settle_blocks() {
    std::vector<std::size_t> place(rounds_.blocks() + 1, static_cast<std::size_t>(count_));
    for (std::size_t b = 0; b < rounds_.blocks(); ++b) {
      const Block& block = blocks_[b];
      const Offset missing = size_.entries - count_;
      if (block.data_lines > missing) {
        fail("{}: more than the {} entries that were promised", at_line(name(), line_ + block.lines.line(missing)),
             size_.entries);
      }
      if (block.bad) {
        const auto here = [&] { return at_line(name(), line_ + block.line_count); };
        Entries none;
        block.fail_again(here, [&](std::string_view line) { MarketParser(banner_, size_).parse(line, none, here); });
      }
      if (!banner_.array) entry_lines_.append(block.lines, count_, line_);
      line_ += block.line_count;
      count_ += block.data_lines;
      place[b + 1] = static_cast<std::size_t>(count_);
    }
    // What the line of sizes promises may be a lie, the bytes that the file has are none.
    const double guess = 1.03 * rounds_.guess(place.back()).value_or(0);
    const auto all = static_cast<std::size_t>(std::min(guess, static_cast<double>(size_.entries)));
    if (!banner_.array) {
      grow(entries_.row, place.back(), all);
      grow(entries_.col, place.back(), all);
    }
    grow(entries_.value, place.back(), all);
    rounds_.put([&](std::size_t b) {
      const Entries& found = blocks_[b].found;
      const auto at = static_cast<std::ptrdiff_t>(place[b]);
      std::copy(found.row.begin(), found.row.end(), entries_.row.begin() + at);
      std::copy(found.col.begin(), found.col.end(), entries_.col.begin() + at);
      std::copy(found.value.begin(), found.value.end(), entries_.value.begin() + at);
    });
  }

  LineReader lines_;
  const Execution& execution_;
  TextRounds rounds_;
  Banner banner_;
  Size size_;
  std::vector<Block> blocks_;
  Entries entries_;  // of an array the values alone, in the order of the file
  EntryLines entry_lines_;
  Offset count_ = 0;
  Offset line_ = 0;  // the last one that was settled
};

// The other triangle of a symmetric matrix, after all lines of the file so that entry k still is line k.
void mirror(Entries& entries, const Execution& execution) {
  const std::size_t stored = entries.row.size();
  const auto mirrored = [&](std::size_t k) { return entries.row[k] != entries.col[k]; };
  put_in_order(
      stored, execution,
      [&](std::size_t first, std::size_t last) {
        std::size_t count = 0;
        for (std::size_t k = first; k < last; ++k) count += mirrored(k) ? 1 : 0;
        return count;
      },
      [&](std::size_t count) {
        entries.row.resize(stored + count);
        entries.col.resize(stored + count);
        entries.value.resize(stored + count);
      },
      [&](std::size_t first, std::size_t last, std::size_t at) {
        at += stored;
        for (std::size_t k = first; k < last; ++k) {
          if (!mirrored(k)) continue;
          entries.row[at] = entries.col[k];
          entries.col[at] = entries.row[k];
          entries.value[at++] = entries.value[k];
        }
      });
}

ParsedEntries MarketFile::coordinates() {
  ParsedEntries parsed;
  parsed.name = name();
  NamedEntries& data = parsed.data;
  data.rows = size_.rows;
  data.cols = size_.cols;
  data.row_labels.base = data.col_labels.base = first_index;
  data.entries = std::move(entries_);
  if (banner_.symmetric) mirror(data.entries, execution_);
  const Offset stored = size_.entries;
  parsed.where = [lines = std::move(entry_lines_), stored](Offset entry) {
    return entry < stored ? fmt::format("line {}", lines.line(entry)) : "the other triangle of the symmetric matrix";
  };
  return parsed;
}

Matrix MarketFile::array() {
  Matrix matrix;
  matrix.rows = size_.rows;
  matrix.cols = size_.cols;
  const auto rows = static_cast<std::size_t>(matrix.rows);
  const auto cols = static_cast<std::size_t>(matrix.cols);
  const std::vector<Real> stored = std::move(entries_.value);  // by columns, of a symmetric one from the diagonal on
  matrix.value = banner_.symmetric ? by_rows(stored, rows, cols, execution_,
                                             [&](std::size_t row, std::size_t col) {
                                               const auto [left, low] = std::minmax(row, col);
                                               return left * rows - left * (left + 1) / 2 + low;
                                             })
                                   : by_rows(stored, rows, cols, execution_,
                                             [&](std::size_t row, std::size_t col) { return col * rows + row; });
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

ParsedEntries read_matrix_market(ByteSource source, const Execution& execution) {
  MarketFile file(std::move(source), execution);
  return file.is_array() ? entries_of(file.array(), file.name(), first_index, execution) : file.coordinates();
}

Matrix read_matrix_market_array(ByteSource source, const Execution& execution) {
  return MarketFile(std::move(source), execution).array();
}

}  // namespace tracenorm::io
