#include "io/utf8.hpp"

namespace tracenorm::io {
namespace {

// Reads one code point at `at` and moves past it; false when the bytes there are not UTF-8 (overlong forms, surrogates
// and numbers beyond Unicode included).
bool next_code_point(std::string_view bytes, std::size_t& at, char32_t& code_point) {
  const auto first = static_cast<unsigned char>(bytes[at]);
  if (first < 0x80) {
    code_point = first;
    ++at;
    return true;
  }
  const int more = first >= 0xf0 && first < 0xf5   ? 3
                   : first >= 0xe0 && first < 0xf0 ? 2
                   : first >= 0xc2 && first < 0xe0 ? 1
                                                   : 0;
  if (more == 0 || bytes.size() - at <= static_cast<std::size_t>(more)) return false;
  code_point = first & (0x3fU >> more);
  for (int k = 1; k <= more; ++k) {
    const auto next = static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(k)]);
    if ((next & 0xc0U) != 0x80U) return false;
    code_point = (code_point << 6U) | (next & 0x3fU);
  }
  at += static_cast<std::size_t>(more) + 1;
  const bool overlong = (more == 2 && code_point < 0x800) || (more == 3 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
  return !overlong && !surrogate && code_point <= 0x10ffff;
}

}  // namespace

std::optional<std::u32string> decode_utf8(std::string_view bytes) {
  std::u32string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    char32_t code_point = 0;
    if (!next_code_point(bytes, at, code_point)) return std::nullopt;
    text.push_back(code_point);
  }
  return text;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto tail = [&](unsigned shift) { out.push_back(static_cast<char>(0x80U | ((code_point >> shift) & 0x3fU))); };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xc0U | (code_point >> 6U)));
    tail(0);
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xe0U | (code_point >> 12U)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xf0U | (code_point >> 18U)));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    char32_t code_point = 0;
    if (!next_code_point(bytes, at, code_point)) return false;
  }
  return true;
}

std::size_t utf8_length(std::string_view bytes) {
  std::size_t length = 0;
  for (const char c : bytes) length += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1 : 0;
  return length;
}

}  // namespace tracenorm::io
