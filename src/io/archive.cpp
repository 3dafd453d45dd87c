#include "io/archive.hpp"

#include <zip.h>

#include <algorithm>
#include <utility>

#include "io/messages.hpp"

namespace tracenorm::io {
namespace {

// Owns a zip_error_t for the calls that report through one.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  explicit ZipError(int code) { zip_error_init_with_code(&error_, code); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error_); }
  zip_error_t* get() { return &error_; }
  std::string text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_{};
};

std::size_t read_member(zip_file_t* file, const std::string& name, char* into, std::size_t size) {
  const zip_int64_t got = zip_fread(file, into, size);
  if (got < 0) {
    fail("'{}' is damaged ({}); fetch or copy the archive again", name, zip_error_strerror(zip_file_get_error(file)));
  }
  return static_cast<std::size_t>(got);
}

std::string read_whole(zip_source_t* source) {
  const auto check = [&](bool good) {
    if (!good) fail("cannot make an archive: {}", zip_error_strerror(zip_source_error(source)));
  };
  check(zip_source_open(source) == 0);
  check(zip_source_seek(source, 0, SEEK_END) == 0);
  const zip_int64_t size = zip_source_tell(source);
  check(size >= 0 && zip_source_seek(source, 0, SEEK_SET) == 0);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const zip_int64_t got = zip_source_read(source, bytes.data() + filled, bytes.size() - filled);
    check(got > 0);
    filled += static_cast<std::size_t>(got);
  }
  zip_source_close(source);
  return bytes;
}

}  // namespace

Archive::Archive(const std::string& path) : path_(path) {
  // Opening it as a plain file first gives the usual messages for a file that is missing, a folder, or empty.
  if (open_source(path).peek(1).empty()) fail("'{}' is empty: an archive (.zip, .npz) was expected", path);
  int code = 0;
  zip_t* handle = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (handle == nullptr) {
    fail("'{}' is not a usable zip archive ({}): it may be truncated; fetch or copy it again", path,
         ZipError(code).text());
  }
  handle_ = std::shared_ptr<zip>(handle, [](zip_t* open) { zip_discard(open); });
  const zip_int64_t count = zip_get_num_entries(handle, 0);
  for (zip_int64_t k = 0; k < count; ++k) {
    const char* name = zip_get_name(handle, static_cast<zip_uint64_t>(k), 0);
    if (name != nullptr && !std::string_view(name).ends_with('/')) members_.emplace_back(name);
  }
}

bool Archive::contains(std::string_view member) const {
  return std::find(members_.begin(), members_.end(), member) != members_.end();
}

ByteSource Archive::open(const std::string& member) const {
  const std::string name = path_ + ":" + member;
  zip_stat_t status{};
  zip_file_t* opened = nullptr;
  if (zip_stat(handle_.get(), member.c_str(), 0, &status) == 0) opened = zip_fopen(handle_.get(), member.c_str(), 0);
  if (opened == nullptr) fail("cannot read '{}': {}", name, zip_strerror(handle_.get()));
  // The member must be closed before the archive: the deleter holds on to the archive.
  const std::shared_ptr<zip_file_t> file(opened, [archive = handle_](zip_file_t* open) { zip_fclose(open); });
  std::optional<std::uint64_t> size;
  if ((status.valid & ZIP_STAT_SIZE) != 0) size = status.size;
  return {name, [file, name](char* into, std::size_t bytes) { return read_member(file.get(), name, into, bytes); },
          size};
}

void ArchiveBuilder::add(std::string member, std::string bytes, bool compress) {
  members_.push_back({std::move(member), std::move(bytes), compress});
}

std::string ArchiveBuilder::finish() {
  ZipError error;
  const auto free_source = [](zip_source_t* source) { zip_source_free(source); };
  std::unique_ptr<zip_source_t, decltype(free_source)> target(zip_source_buffer_create(nullptr, 0, 0, error.get()),
                                                              free_source);
  if (target == nullptr) fail("cannot make an archive: {}", error.text());
  zip_source_keep(target.get());  // one reference for the archive, one for reading the bytes afterwards
  zip_t* archive = zip_open_from_source(target.get(), ZIP_TRUNCATE, error.get());
  if (archive == nullptr) {
    zip_source_free(target.get());
    fail("cannot make an archive: {}", error.text());
  }
  for (const Member& member : members_) {
    zip_source_t* source = zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive, member.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    constexpr zip_uint16_t first_of_january_1980 = 0x21;
    if (index < 0 ||
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                                 member.compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive, static_cast<zip_uint64_t>(index), 0, first_of_january_1980, 0) != 0) {
      const std::string reason = zip_strerror(archive);
      if (index < 0 && source != nullptr) zip_source_free(source);
      zip_discard(archive);
      fail("cannot make an archive: {}", reason);
    }
  }
  if (zip_close(archive) != 0) {
    const std::string reason = zip_strerror(archive);
    zip_discard(archive);
    fail("cannot make an archive: {}", reason);
  }
  members_.clear();
  return read_whole(target.get());
}

}  // namespace tracenorm::io
