// Where docs/troubleshooting.md says more about an error: its anchors.
#pragma once

#include <string_view>

#include "tracenorm/error.hpp"

namespace tracenorm::app {

inline constexpr std::string_view kUnknownWord = "unknown-option-or-command";
inline constexpr std::string_view kMemory = "memory";

std::string_view troubleshooting_anchor(ErrorCode code);
std::string_view troubleshooting_anchor(const Error& error);

}  // namespace tracenorm::app
