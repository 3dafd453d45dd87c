// PNG for one kind of picture: eight bits of gray, no filter. The compression and the checksums are zlib's.
#include "io/png.hpp"

#include <zlib.h>

#include "tracenorm/error.hpp"

namespace tracenorm::io {

namespace {

void append_number(std::string& bytes, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 255U);
}

void append_chunk(std::string& file, const std::string& name, const std::string& content) {
  append_number(file, static_cast<std::uint32_t>(content.size()));
  const std::string checked = name + content;
  file += checked;
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));  // NOLINT
  append_number(file, static_cast<std::uint32_t>(sum));
}

std::string compressed(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), 9);
  if (code != Z_OK) throw Error(ErrorCode::numerical, "a picture could not be compressed");
  packed.resize(size);
  return packed;
}

}  // namespace

std::string to_png(const GrayImage& image) {
  std::string header;
  append_number(header, image.width);
  append_number(header, image.height);
  header += std::string("\x08\x00\x00\x00\x00", 5);  // 8 bits, gray, deflate, filters by row, not interlaced

  std::string rows;
  for (std::uint32_t y = 0; y < image.height; ++y) {
    rows += '\0';  // no filter
    const auto begin = image.pixel.begin() + static_cast<std::ptrdiff_t>(y) * image.width;
    rows.append(begin, begin + image.width);
  }
  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", compressed(rows));
  append_chunk(file, "IEND", "");
  return file;
}

}  // namespace tracenorm::io
