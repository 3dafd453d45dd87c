// Gray pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracenorm::io {

struct GrayImage {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<unsigned char> pixel;  ///< row by row; 0 is black
};

/// The bytes of a PNG file. The same picture gives the same bytes.
std::string to_png(const GrayImage& image);

}  // namespace tracenorm::io
