// The wording that all errors of this layer share: the file, the place in it, the value, and what would be right.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/topic.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {

/// Throws an input error.
[[noreturn]] void fail_with(const std::string& message);

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  fail_with(fmt::format(text, std::forward<Args>(args)...));
}

/// The same, about something that the documentation says more of.
template <class... Args>
[[noreturn]] void fail_about(Topic topic, fmt::format_string<Args...> text, Args&&... args) {
  throw TopicError(ErrorCode::input, topic, fmt::format(text, std::forward<Args>(args)...));
}

/// Throws an error that the named member of `ReadOptions` may settle.
template <class... Args>
[[noreturn]] void fail_for(const char* setting, fmt::format_string<Args...> text, Args&&... args) {
  throw ReadError(fmt::format(text, std::forward<Args>(args)...), setting);
}

/// A value as it can be shown in a message: quoted, shortened, and with unprintable bytes escaped.
std::string excerpt(std::string_view value);

/// "'name', line 7".
std::string at_line(std::string_view name, Offset line);

/// "a, b, c and 7 more".
template <class Names>
std::string listing(const Names& names, std::size_t most = 12) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& name : names) {
    if (shown == most) return text + fmt::format(" and {} more", names.size() - most);
    if (shown++ > 0) text += ", ";
    text += name;
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace tracenorm::io
