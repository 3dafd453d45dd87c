// The machine that the program runs on, in a few words.
#pragma once

#include <string>

namespace tracenorm::app {

/// "Intel(R) Xeon(R) ..., 2 cores, 16 GB".
std::string describe_machine();

}  // namespace tracenorm::app
