// What the tests of the io layer share: a folder of their own, files made on the spot, and messages of errors.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/archive.hpp"
#include "io/numpy.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {

/// A test with a folder that is removed afterwards.
class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tracenorm-io-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FolderTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string make(const std::string& name, std::string_view bytes) const {
    std::ofstream file(path(name), std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }

  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

/// The message of the input error that `action` throws.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

inline std::string table_error(const std::string& path, const ReadOptions& options = {}) {
  return error_of([&] { read_entries(path, options); });
}

inline void expect_says(const std::string& message, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is missing in: " << message;
}

/// The text as a stream of one filter of libarchive.
inline std::string packed(std::string_view text, int (*add_filter)(archive*)) {
  std::string bytes(2 * text.size() + 4096, '\0');
  std::size_t used = 0;
  archive* const handle = archive_write_new();
  archive_entry* const entry = archive_entry_new();
  archive_entry_set_pathname(entry, "text");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_set_bytes_per_block(handle, 0);
  EXPECT_EQ(add_filter(handle), ARCHIVE_OK);
  EXPECT_EQ(archive_write_set_format_raw(handle), ARCHIVE_OK);
  EXPECT_EQ(archive_write_open_memory(handle, bytes.data(), bytes.size(), &used), ARCHIVE_OK);
  EXPECT_EQ(archive_write_header(handle, entry), ARCHIVE_OK);
  EXPECT_EQ(archive_write_data(handle, text.data(), text.size()), static_cast<la_ssize_t>(text.size()));
  EXPECT_EQ(archive_write_close(handle), ARCHIVE_OK);
  archive_entry_free(entry);
  archive_write_free(handle);
  bytes.resize(used);
  return bytes;
}
inline std::string gzipped(std::string_view text) { return packed(text, archive_write_add_filter_gzip); }
inline std::string xzipped(std::string_view text) { return packed(text, archive_write_add_filter_xz); }

inline std::string zipped(const std::vector<std::pair<std::string, std::string>>& members, bool compress = true) {
  std::string zip;
  ArchiveWriter archive([&](std::string_view bytes) { zip += bytes; });
  for (const auto& [name, bytes] : members) archive.add(name, bytes, compress);
  archive.finish();
  return zip;
}

template <class Number>
std::string npy(std::string_view type, const std::vector<std::int64_t>& shape, const std::vector<Number>& numbers,
                bool fortran_order = false) {
  std::string bytes = npy_header(type, fortran_order, shape);
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  return bytes;
}

/// The entries as "row,col=value" words, in the order of the table.
inline std::string words(const NamedEntries& table) {
  std::string text;
  for (std::size_t k = 0; k < table.entries.row.size(); ++k) {
    text += fmt::format("{}{},{}={}", k > 0 ? " " : "", table.row_labels.name(table.entries.row[k]),
                        table.col_labels.name(table.entries.col[k]), table.entries.value[k]);
  }
  return text;
}

using Names = std::vector<std::string>;

}  // namespace tracenorm::io
