// Text and bytes in the forms that HTML takes.
#pragma once

#include <string>
#include <string_view>

namespace tracenorm::app {

std::string escape_html(std::string_view text);

/// Escaped, and `words between backticks` as code.
std::string markup(std::string_view text);

std::string base64(std::string_view bytes);
/// The bytes again; characters that do not belong are an input error.
std::string from_base64(std::string_view text);

}  // namespace tracenorm::app
