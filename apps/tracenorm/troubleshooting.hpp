// Where docs/troubleshooting.md says more about an error: its anchors, by what a message says.
#pragma once

#include <string_view>

namespace tracenorm::app {

/// The anchor for a message that ends the program with this exit code.
std::string_view troubleshooting_anchor(int code, std::string_view message);

}  // namespace tracenorm::app
