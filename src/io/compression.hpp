// Streaming gzip and xz. A stream that ends early is an error, never a shorter file.
#pragma once

#include "io/source.hpp"

namespace tracenorm::io {

ByteSource gunzip(ByteSource compressed);
ByteSource unxz(ByteSource compressed);

}  // namespace tracenorm::io
