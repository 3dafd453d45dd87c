#include "io/archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <exception>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "io/messages.hpp"

namespace tracenorm::io {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16U;

std::string reason_of(archive* handle) {
  const char* text = archive_error_string(handle);
  return text != nullptr ? text : "it ends early";  // libarchive says nothing about some streams that are cut
}

}  // namespace

struct ArchiveReader::Stream {
  ByteSource packed;
  const char* kind;
  std::vector<char> block;
  std::unique_ptr<archive, decltype(&archive_read_free)> handle{archive_read_new(), archive_read_free};
  std::exception_ptr failure;  // of reading the packed bytes: exceptions must not pass through libarchive
  bool opened = false;
  std::string member;
  std::optional<std::uint64_t> size;

  Stream(ByteSource bytes, const char* what) : packed(std::move(bytes)), kind(what), block(packed.room(block_bytes)) {
    if (packed.peek(1).empty()) fail("'{}' is empty: a {} was expected", packed.name(), kind);
  }

  static la_ssize_t fill(archive* /*handle*/, void* stream, const void** block) {
    auto& self = *static_cast<Stream*>(stream);
    *block = self.block.data();
    try {
      return static_cast<la_ssize_t>(self.packed.read(self.block.data(), self.block.size()));
    } catch (...) {
      self.failure = std::current_exception();
      return ARCHIVE_FATAL;
    }
  }

  /// The outcome of a call of libarchive, which is at least `ARCHIVE_WARN`: a file name it cannot spell is no harm. (A
  /// warning about data is: their checksum is wrong.)
  la_ssize_t checked(la_ssize_t outcome, la_ssize_t least = ARCHIVE_WARN) {
    if (failure) std::rethrow_exception(failure);
    if (outcome < least && archive_errno(handle.get()) == ENOMEM) throw std::bad_alloc();
    if (outcome < least) {
      fail("'{}{}{}' is not a valid {} ({}): it may be truncated or damaged; fetch or copy it again", packed.name(),
           member.empty() ? "" : ":", member, kind, reason_of(handle.get()));
    }
    return outcome;
  }

  bool next() {
    if (!std::exchange(opened, true)) checked(archive_read_open(handle.get(), this, nullptr, fill, nullptr));
    archive_entry* entry = nullptr;
    do {
      if (checked(archive_read_next_header(handle.get(), &entry)) == ARCHIVE_EOF) return false;
    } while (archive_entry_filetype(entry) == AE_IFDIR);
    const char* name = archive_entry_pathname_utf8(entry);
    member = name != nullptr ? name : "(unnamed)";
    refuse_greedy_packing();
    size.reset();
    if (archive_entry_size_is_set(entry) != 0) size = static_cast<std::uint64_t>(archive_entry_size(entry));
    return true;
  }

  /// Other ways to pack a member of a zip archive say in a few bytes how much memory unpacking shall take, up to
  /// gigabytes, and nobody packs arrays or ratings so. libarchive tells it as in "ZIP 2.0 (deflation)".
  void refuse_greedy_packing() const {
    const std::string_view format = archive_format_name(handle.get());
    if (!format.starts_with("ZIP") || format.ends_with("(deflation)") || format.ends_with("(uncompressed)")) return;
    fail("'{}:{}' is packed in a way that is not read ({}); zip it anew, with deflate or stored", packed.name(), member,
         format);
  }

  std::size_t read(char* into, std::size_t bytes) {
    return static_cast<std::size_t>(checked(archive_read_data(handle.get(), into, bytes), 0));
  }
};

ArchiveReader::ArchiveReader(ByteSource zip)
    : stream_(std::make_shared<Stream>(std::move(zip), "zip archive (.zip, .npz)")) {
  archive_read_support_format_zip_streamable(stream_->handle.get());
}

bool ArchiveReader::next() { return stream_->next(); }
const std::string& ArchiveReader::path() const { return stream_->packed.name(); }
const std::string& ArchiveReader::member() const { return stream_->member; }

ByteSource ArchiveReader::content() const {
  return {path() + ":" + member(),
          [stream = stream_](char* into, std::size_t size) { return stream->read(into, size); }, stream_->size};
}

ByteSource unxz(ByteSource xz) {
  const auto stream = std::make_shared<ArchiveReader::Stream>(std::move(xz), "xz file");
  archive_read_support_filter_xz(stream->handle.get());
  archive_read_support_format_raw(stream->handle.get());
  archive_read_support_format_empty(stream->handle.get());
  const bool empty = !stream->next();
  stream->member.clear();  // libarchive's word for a stream without a name
  return {stream->packed.name(),
          [stream, empty](char* into, std::size_t size) { return empty ? 0 : stream->read(into, size); }};
}

struct ArchiveWriter::Stream {
  std::function<void(std::string_view)> sink;
  std::unique_ptr<archive, decltype(&archive_write_free)> handle{archive_write_new(), archive_write_free};
  std::exception_ptr failure;

  /// After a failure the rest goes nowhere: libarchive gives back what it holds only where it comes to an end (its
  /// deflate streams stay otherwise), and it comes back here when the writer is destroyed.
  static la_ssize_t drain(archive* /*handle*/, void* stream, const void* bytes, std::size_t size) {
    auto& self = *static_cast<Stream*>(stream);
    try {
      if (!self.failure) self.sink({static_cast<const char*>(bytes), size});
    } catch (...) {
      self.failure = std::current_exception();
    }
    return static_cast<la_ssize_t>(size);
  }

  void check(la_ssize_t outcome) {
    if (failure) std::rethrow_exception(failure);
    if (outcome < ARCHIVE_OK) fail("cannot make an archive: {}", reason_of(handle.get()));
  }
};

ArchiveWriter::ArchiveWriter(std::function<void(std::string_view)> sink) : stream_(std::make_shared<Stream>()) {
  stream_->sink = std::move(sink);
  archive* handle = stream_->handle.get();
  stream_->check(archive_write_set_format_zip(handle));
  stream_->check(archive_write_set_bytes_per_block(handle, 0));  // no padding, no second buffer
  stream_->check(archive_write_open(handle, stream_.get(), nullptr, Stream::drain, nullptr));
}

void ArchiveWriter::add(const std::string& member, std::string_view bytes, bool compress) {
  archive* handle = stream_->handle.get();
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(entry.get(), member.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  stream_->check(compress ? archive_write_zip_set_compression_deflate(handle)
                          : archive_write_zip_set_compression_store(handle));
  stream_->check(archive_write_header(handle, entry.get()));
  stream_->check(archive_write_data(handle, bytes.data(), bytes.size()));
}

void ArchiveWriter::finish() { stream_->check(archive_write_close(stream_->handle.get())); }

}  // namespace tracenorm::io
