// SHA-256, by which data sets are recognised.
#pragma once

#include <string>

namespace tracenorm::app {

/// Of the bytes of a file as they are, in hexadecimal.
std::string sha256_of_file(const std::string& path);

/// Of what a file holds: compression is undone, and `member` of a zip archive is taken.
std::string sha256_of_content(const std::string& path, const std::string& member);

}  // namespace tracenorm::app
