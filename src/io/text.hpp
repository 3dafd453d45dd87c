// Lines, fields and numbers of text files.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::io {

/// Reads lines in blocks; a line that crosses a block is carried over. Takes off line ends of Unix and Windows and a
/// UTF-8 byte order mark, and refuses binary data.
class LineReader {
 public:
  explicit LineReader(ByteSource source);
  /// Text that goes on somewhere inside of a file, whose beginning was looked at elsewhere.
  struct Inside {};
  LineReader(ByteSource source, Inside /*text*/) : source_(std::move(source)) {}

  /// The next line, or false at the end. The line is valid until the next call.
  bool next(std::string_view& line);
  /// The text that waits to be read: the file's first lines, after a look at the first block.
  [[nodiscard]] std::string_view ahead() const { return {buffer_.data() + begin_, end_ - begin_}; }
  /// The next call of `next` gives the same line again.
  void repeat() { repeated_ = true; }

  /// How many bytes stand before the next line.
  [[nodiscard]] Offset position() const {
    return before_ + (repeated_ ? last_.data() - buffer_.data() : static_cast<Offset>(begin_));
  }
  [[nodiscard]] Offset line_number() const { return line_number_; }  ///< of the line given last, from 1
  [[nodiscard]] const std::string& name() const { return source_.name(); }
  [[nodiscard]] std::string here() const;  ///< "'name', line 7"
  /// The bytes of the whole file, where that is known in advance.
  [[nodiscard]] std::optional<std::uint64_t> size() const { return source_.size(); }

  /// Whole lines that somebody else cuts and counts.
  struct Lines {
    std::vector<char> room;  ///< the lines are the first of it
    std::size_t bytes = 0;   ///< zero at the end
    bool cut_off = false;    ///< what follows is a line too long to be one
  };
  /// The lines that follow, about `wanted` bytes and at least one line.
  void take(Lines& lines, std::size_t wanted);

 private:
  bool refill();
  void refuse_binary(const char* block, std::size_t size) const;

  ByteSource source_;
  std::vector<char> buffer_;
  Offset before_ = 0;      // bytes that came before those of the buffer
  std::size_t begin_ = 0;  // of the text not given yet
  std::size_t end_ = 0;
  bool ended_ = false;
  bool repeated_ = false;
  std::string_view last_;
  Offset line_number_ = 0;
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

/// What stands between the fields of a line. `blank` is any run of blanks and tabs.
enum class Separator { tab, double_colon, comma, semicolon, blank };

/// Cuts lines into fields. Blanks around fields are taken off; a field may stand in double quotes (a quote inside is
/// doubled), except where fields are separated by blanks.
class FieldSplitter {
 public:
  explicit FieldSplitter(Separator separator) : separator_(separator) {}

  /// The fields of a line, at most `limit`: what follows is left alone. Valid until the next call.
  const std::vector<std::string_view>& split(std::string_view line, std::size_t limit = std::string_view::npos);
  /// Whether a quote of the line was not closed, or more than blanks followed one that was.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  void split_at_blanks(std::string_view line, std::size_t limit);
  void split_at(std::string_view line, std::string_view separator, std::size_t limit);
  std::string_view take_quoted(std::string_view line, std::size_t& at);

  Separator separator_;
  bool broken_ = false;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  // fields that had doubled quotes
};

[[noreturn]] void fail_quote(const std::string& where, std::string_view line);
[[noreturn]] void fail_long(const std::string& where);
/// `where` is the line of a zero byte.
[[noreturn]] void fail_zero(const std::string& where);

/// The separator that cuts the line into enough fields: tab, "::", comma, semicolon, blanks, in this order.
Separator detect_separator(std::string_view line, std::size_t fields);

std::string_view trim(std::string_view text);
std::string_view without_byte_order_mark(std::string_view text);
std::string to_lower(std::string_view text);

/// A number, also nan and inf, with nothing before or after it.
std::optional<double> parse_number(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);
/// An integer written the one way in which printing it gives the same text again ("7", "-7"; not "+7", "07", "-0").
inline std::optional<std::int64_t> parse_canonical_integer(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 18) return std::nullopt;
  if (text[0] == '0' && (text.size() > 1 || negative)) return std::nullopt;
  std::int64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = 10 * number + (c - '0');
  }
  return negative ? -number : number;
}
/// A word for a value that is not there: nothing, NA, N/A, null, none, nan.
bool is_missing_word(std::string_view text);

/// What a user says stands for a value that is not there, besides the usual words.
class MissingMarks {
 public:
  explicit MissingMarks(const std::vector<std::string>& marks);
  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] bool has(std::string_view field) const;
  [[nodiscard]] bool has_number(double value) const;

 private:
  std::vector<std::string> words_;
  std::vector<double> numbers_;  // in single precision, like the values they are compared with
};

/// A finite number that an entry can hold, or an error that begins with `where()`.
template <class Where>
Real parse_value(std::string_view text, const Where& where);

[[noreturn]] void fail_value(const std::string& where, std::string_view text);

template <class Where>
Real parse_value(std::string_view text, const Where& where) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return static_cast<Real>(text[0] - '0');
  const std::optional<double> number = parse_number(text);
  constexpr double largest = std::numeric_limits<Real>::max();
  if (!number || !(*number >= -largest && *number <= largest)) fail_value(where(), text);
  const Real value = *number;
  return value;
}

}  // namespace tracenorm::io
