#include "io/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "io/messages.hpp"

namespace tracenorm::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18U;
constexpr std::size_t longest_line = std::size_t{1} << 28U;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view separator_text(Separator separator) {
  switch (separator) {
    case Separator::tab:
      return "\t";
    case Separator::double_colon:
      return "::";
    case Separator::comma:
      return ",";
    case Separator::semicolon:
      return ";";
    case Separator::blank:
      return " ";
  }
  return " ";
}

}  // namespace

LineReader::LineReader(ByteSource source) : source_(std::move(source)), buffer_(source_.room(buffer_bytes)) {
  const std::string_view head = source_.peek(4096);
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff"))
    fail("'{}' is UTF-16 text: save it as UTF-8", name());
  // Text has no control characters but tabs and line ends; a zero byte later in the file is caught block by block.
  const auto odd =
      std::find_if(head.begin(), head.end(), [](unsigned char c) { return c < 0x09 || (c > 0x0d && c < 0x20); });
  if (odd != head.end()) {
    fail("{}: binary data where text was expected (the file begins with {}); is its suffix right?",
         at_line(name(), 1 + std::count(head.begin(), odd, '\n')), excerpt(head.substr(0, 8)));
  }
  const std::size_t mark = head.size() - without_byte_order_mark(head).size();
  refill();
  begin_ = mark;
}

std::string LineReader::here() const { return at_line(name(), line_number_); }

void LineReader::refuse_binary(const char* block, std::size_t size) const {
  const void* zero = size == 0 ? nullptr : std::memchr(block, 0, size);
  if (zero == nullptr) return;
  const Offset line = line_number_ + 1 + std::count(buffer_.data() + begin_, static_cast<const char*>(zero), '\n');
  fail_zero(at_line(name(), line));
}

void LineReader::take(Lines& lines, std::size_t wanted) {
  if (std::exchange(repeated_, false)) {
    begin_ = static_cast<std::size_t>(last_.data() - buffer_.data());
    --line_number_;
  }
  wanted = source_.room(wanted);
  std::vector<char>& room = lines.room;
  std::size_t filled = end_ - begin_;
  if (room.size() < std::max(wanted, 2 * filled)) room.resize(std::max(wanted, 2 * filled));
  if (filled > 0) std::memcpy(room.data(), buffer_.data() + begin_, filled);
  lines.cut_off = false;
  while (true) {
    filled += source_.read(room.data() + filled, room.size() - filled);
    lines.bytes = filled;
    if (filled < room.size()) break;
    const void* newline = memrchr(room.data(), '\n', filled);
    lines.bytes =
        newline == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(newline) - room.data()) + 1;
    lines.cut_off = newline == nullptr && room.size() >= longest_line;
    if (newline != nullptr || lines.cut_off) break;
    room.resize(2 * room.size());
  }
  begin_ = 0;
  end_ = filled - lines.bytes;
  if (buffer_.size() < end_) buffer_.resize(end_);
  if (end_ > 0) std::memcpy(buffer_.data(), room.data() + lines.bytes, end_);
}

// Moves the unfinished line to the front and reads behind it. False when nothing more came.
bool LineReader::refill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    before_ += static_cast<Offset>(begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= longest_line) fail_long(at_line(name(), line_number_ + 1));
    buffer_.resize(2 * buffer_.size());
  }
  const std::size_t got = source_.read(buffer_.data() + end_, buffer_.size() - end_);
  ended_ = got == 0;
  refuse_binary(buffer_.data() + end_, got);
  end_ += got;
  return got > 0;
}

bool LineReader::next(std::string_view& line) {
  if (repeated_) {
    repeated_ = false;
    line = last_;
    return true;
  }
  std::size_t searched = 0;  // of the unfinished line: a long line is not searched again from its start
  const char* newline = nullptr;
  while (true) {
    const char* from = buffer_.data() + begin_ + searched;
    newline = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_ - searched));
    if (newline != nullptr) break;
    searched = end_ - begin_;
    if (!refill()) break;
  }
  if (newline == nullptr && begin_ == end_) return false;
  const char* first = buffer_.data() + begin_;
  std::size_t size = newline != nullptr ? static_cast<std::size_t>(newline - first) : end_ - begin_;
  begin_ += size + (newline != nullptr ? 1 : 0);
  if (size > 0 && first[size - 1] == '\r') --size;
  line = last_ = std::string_view(first, size);
  ++line_number_;
  return true;
}

const std::vector<std::string_view>& FieldSplitter::split(std::string_view line, std::size_t limit) {
  fields_.clear();
  broken_ = false;
  if (!unquoted_.empty()) unquoted_.clear();
  if (separator_ == Separator::blank) {
    split_at_blanks(line, limit);
  } else {
    split_at(line, separator_text(separator_), limit);
  }
  return fields_;
}

void FieldSplitter::split_at_blanks(std::string_view line, std::size_t limit) {
  std::size_t at = 0;
  while (fields_.size() < limit) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size()) return;
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    fields_.push_back(line.substr(begin, at - begin));
  }
}

void FieldSplitter::split_at(std::string_view line, std::string_view separator, std::size_t limit) {
  const char mark = separator[0];
  const bool twice = separator.size() == 2;
  std::size_t at = 0;
  while (fields_.size() < limit) {
    std::size_t begin = at;
    while (begin < line.size() && line[begin] == ' ') ++begin;
    if (begin < line.size() && line[begin] == '"') {
      at = begin;
      fields_.push_back(take_quoted(line, at));
      const std::size_t behind = at;
      at = line.find(separator, at);
      broken_ = broken_ || !trim(line.substr(behind, at - behind)).empty();
      if (at == std::string_view::npos) return;
    } else {
      at = begin;
      while (at < line.size() && !(line[at] == mark && (!twice || (at + 1 < line.size() && line[at + 1] == mark))))
        ++at;
      std::size_t end = at;
      while (end > begin && is_blank(line[end - 1])) --end;
      fields_.push_back(line.substr(begin, end - begin));
      if (at >= line.size()) return;
    }
    at += separator.size();
  }
}

// The text between quotes; `at` moves from the opening quote to behind the closing one.
std::string_view FieldSplitter::take_quoted(std::string_view line, std::size_t& at) {
  const std::size_t begin = at + 1;
  bool doubled = false;
  std::size_t end = begin;
  while (true) {
    end = line.find('"', end);
    if (end == std::string_view::npos) {
      broken_ = true;
      at = line.size();
      return line.substr(begin - 1);
    }
    if (end + 1 < line.size() && line[end + 1] == '"') {
      doubled = true;
      end += 2;
      continue;
    }
    break;
  }
  at = end + 1;
  const std::string_view quoted = line.substr(begin, end - begin);
  if (!doubled) return quoted;
  std::string& text = unquoted_.emplace_back();
  for (std::size_t k = 0; k < quoted.size(); ++k) {
    text.push_back(quoted[k]);
    if (quoted[k] == '"') ++k;
  }
  return text;
}

void fail_quote(const std::string& where, std::string_view line) {
  fail(
      "{}: a quote is not closed, or text follows it: {}; a field in quotes ends on its line, and a quote inside is "
      "doubled",
      where, excerpt(line));
}

void fail_long(const std::string& where) {
  fail("{}: the line is longer than {} bytes; is this a text file?", where, longest_line);
}

void fail_zero(const std::string& where) {
  fail("{}: binary data (a zero byte) where text was expected; is the file's suffix right?", where);
}

Separator detect_separator(std::string_view line, std::size_t fields) {
  Separator best = Separator::blank;
  std::size_t most = 0;
  for (const Separator candidate :
       {Separator::tab, Separator::double_colon, Separator::comma, Separator::semicolon, Separator::blank}) {
    const std::size_t count = FieldSplitter(candidate).split(line).size();
    if (count >= fields) return candidate;
    if (count > most) {
      most = count;
      best = candidate;
    }
  }
  return best;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view without_byte_order_mark(std::string_view text) {
  return text.substr(text.starts_with("\xef\xbb\xbf") ? 3 : 0);
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return lower;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  double number = 0.0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (stopped != end || text.empty()) return std::nullopt;
  // from_chars does not say whether the number is too large or too small for a double; strtod does.
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);
  if (error != std::errc()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (stopped != end || error != std::errc() || text.empty()) return std::nullopt;
  return number;
}

bool is_missing_word(std::string_view text) {
  if (text.size() > 4 || (!text.empty() && text[0] != 'n' && text[0] != 'N')) return false;
  const std::string word = to_lower(text);
  return word.empty() || word == "na" || word == "n/a" || word == "null" || word == "none" || word == "nan";
}

MissingMarks::MissingMarks(const std::vector<std::string>& marks) : words_(marks) {
  for (const std::string& mark : marks)
    if (const std::optional<double> number = parse_number(mark)) numbers_.push_back(static_cast<Real>(*number));
}

bool MissingMarks::has(std::string_view field) const {
  if (words_.empty()) return false;
  if (std::find(words_.begin(), words_.end(), field) != words_.end()) return true;
  const std::optional<double> number = parse_number(field);
  return number && has_number(*number);
}

bool MissingMarks::has_number(double value) const {
  const Real kept = static_cast<Real>(value);
  return std::find(numbers_.begin(), numbers_.end(), static_cast<double>(kept)) != numbers_.end();
}

void fail_value(const std::string& where, std::string_view text) {
  if (is_missing_word(text)) {
    fail("{}: {} is not a value; leave the whole line out when the value is missing", where, excerpt(text));
  }
  const std::optional<double> number = parse_number(text);
  if (!number) fail("{}: {} is not a number; the value must be one, such as 4 or 3.5 or -1e-3", where, excerpt(text));
  if (std::isfinite(*number)) {
    fail("{}: {} is too large; values are kept in single precision, up to {:.3g}", where, excerpt(text),
         std::numeric_limits<Real>::max());
  }
  fail("{}: {} is not finite; the value must be a finite number", where, excerpt(text));
}

}  // namespace tracenorm::io
