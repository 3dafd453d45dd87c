#include "io/compression.hpp"

#include <lzma.h>
#include <zlib.h>

#include <memory>
#include <utility>
#include <vector>

#include "io/messages.hpp"

namespace tracenorm::io {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16U;

class GzipStream {
 public:
  explicit GzipStream(ByteSource compressed) : compressed_(std::move(compressed)), block_(block_bytes) {
    if (compressed_.peek(1).empty()) fail("'{}' is empty: a gzip file was expected", compressed_.name());
    constexpr int gzip_window = 15 + 16;
    if (inflateInit2(&stream_, gzip_window) != Z_OK) fail("'{}': no memory to undo gzip", compressed_.name());
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() { inflateEnd(&stream_); }

  std::size_t read(char* into, std::size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    const std::size_t wanted = std::min<std::size_t>(size, std::size_t{1} << 30U);
    stream_.avail_out = static_cast<uInt>(wanted);
    while (stream_.avail_out == wanted && !ended_) step();
    return wanted - stream_.avail_out;
  }

 private:
  void step() {
    if (!refill()) fail("'{}' ends early: the gzip file is truncated; fetch or copy it again", compressed_.name());
    const int outcome = inflate(&stream_, Z_NO_FLUSH);
    if (outcome == Z_STREAM_END) {
      // Concatenated gzip files are one gzip file; anything else after the end is padding.
      ended_ = !refill() || *stream_.next_in != 0x1f || inflateReset(&stream_) != Z_OK;
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      fail("'{}' is not a valid gzip file ({}); fetch or copy it again", compressed_.name(),
           stream_.msg != nullptr ? stream_.msg : "damaged data");
    }
  }

  bool refill() {
    if (stream_.avail_in > 0) return true;
    stream_.avail_in = static_cast<uInt>(compressed_.read(block_.data(), block_.size()));
    stream_.next_in = reinterpret_cast<Bytef*>(block_.data());
    return stream_.avail_in > 0;
  }

  ByteSource compressed_;
  std::vector<char> block_;
  z_stream stream_{};
  bool ended_ = false;
};

class XzStream {
 public:
  explicit XzStream(ByteSource compressed) : compressed_(std::move(compressed)), block_(block_bytes) {
    if (compressed_.peek(1).empty()) fail("'{}' is empty: an xz file was expected", compressed_.name());
    if (lzma_stream_decoder(&stream_, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK)
      fail("'{}': no memory to undo xz", compressed_.name());
  }
  XzStream(const XzStream&) = delete;
  XzStream& operator=(const XzStream&) = delete;
  ~XzStream() { lzma_end(&stream_); }

  std::size_t read(char* into, std::size_t size) {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(into);
    stream_.avail_out = size;
    while (stream_.avail_out == size && !ended_) step();
    return size - stream_.avail_out;
  }

 private:
  void step() {
    if (stream_.avail_in == 0 && !finished_) {
      stream_.avail_in = compressed_.read(block_.data(), block_.size());
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(block_.data());
      finished_ = stream_.avail_in < block_.size();
    }
    const lzma_ret outcome = lzma_code(&stream_, finished_ ? LZMA_FINISH : LZMA_RUN);
    if (outcome == LZMA_STREAM_END) {
      ended_ = true;
    } else if (outcome == LZMA_BUF_ERROR) {
      fail("'{}' ends early: the xz file is truncated; fetch or copy it again", compressed_.name());
    } else if (outcome != LZMA_OK) {
      fail("'{}' is not a valid xz file ({}); fetch or copy it again", compressed_.name(),
           outcome == LZMA_FORMAT_ERROR ? "not the xz format"
           : outcome == LZMA_MEM_ERROR  ? "not enough memory"
                                        : "damaged data");
    }
  }

  ByteSource compressed_;
  std::vector<char> block_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool finished_ = false;  // all compressed bytes have been handed over
  bool ended_ = false;     // all uncompressed bytes have come back
};

template <class Stream>
ByteSource undo(ByteSource compressed) {
  const std::string name = compressed.name();
  const auto stream = std::make_shared<Stream>(std::move(compressed));
  return {name, [stream](char* into, std::size_t size) { return stream->read(into, size); }};
}

}  // namespace

ByteSource gunzip(ByteSource compressed) { return undo<GzipStream>(std::move(compressed)); }
ByteSource unxz(ByteSource compressed) { return undo<XzStream>(std::move(compressed)); }

}  // namespace tracenorm::io
