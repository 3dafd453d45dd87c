// What the tests of the io layer share: a folder of their own, files made on the spot, and messages of errors.
#pragma once

#include <gtest/gtest.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>

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

inline std::string gzipped(std::string_view text) {
  std::string bytes(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string input(text);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

inline std::string xzipped(std::string_view text) {
  std::string bytes(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t used = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                    text.size(), reinterpret_cast<std::uint8_t*>(bytes.data()), &used, bytes.size()),
            LZMA_OK);
  bytes.resize(used);
  return bytes;
}

inline std::string zipped(const std::vector<std::pair<std::string, std::string>>& members, bool compress = true) {
  ArchiveBuilder archive;
  for (const auto& [name, bytes] : members) archive.add(name, bytes, compress);
  return archive.finish();
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
