// Names are UTF-8 in memory and UTF-32 in a NumPy unicode array.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracenorm::io {

/// Nothing when the bytes are not valid UTF-8.
std::optional<std::u32string> decode_utf8(std::string_view bytes);
void append_utf8(std::string& out, char32_t code_point);
bool is_utf8(std::string_view bytes);
/// The number of code points of valid UTF-8.
std::size_t utf8_length(std::string_view bytes);

}  // namespace tracenorm::io
