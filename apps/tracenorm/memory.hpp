#pragma once

#include <cstddef>

namespace tracenorm::app {

/// How much was asked for when memory was last refused; 0 where that is not known.
std::size_t refused_bytes();

}  // namespace tracenorm::app
