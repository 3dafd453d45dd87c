#include "io/messages.hpp"

#include "io/utf8.hpp"

namespace tracenorm::io {

void fail_with(const std::string& message) { throw Error(ErrorCode::input, message); }

std::string excerpt(std::string_view value) {
  constexpr std::size_t longest = 40;
  const bool shortened = value.size() > longest;
  if (shortened) value = value.substr(0, longest);
  // A cut in the middle of a character must not make the whole excerpt look like binary data.
  while (shortened && !value.empty() && !is_utf8(value) && value.size() > longest - 4) value.remove_suffix(1);
  const bool utf8 = is_utf8(value);
  std::string text = "'";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool printable = byte >= 0x20 && byte != 0x7f && (byte < 0x80 || utf8);
    text += printable ? std::string(1, c) : c == '\t' ? "\\t" : fmt::format("\\x{:02x}", byte);
  }
  return text + (shortened ? "...'" : "'");
}

std::string at_line(std::string_view name, Offset line) { return fmt::format("'{}', line {}", name, line); }

}  // namespace tracenorm::io
