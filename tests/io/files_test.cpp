#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "helpers.hpp"

namespace tracenorm::io {
namespace {

class Files : public FolderTest {};

const std::string& long_text() {
  static const std::string text = [] {
    std::string lines;
    for (int k = 0; k < 50000; ++k) lines += fmt::format("{}\t{}\t{}\n", k % 499, k / 499, k % 5 + 1);
    return lines;
  }();
  return text;
}

TEST_F(Files, GzipAndXz) {
  const std::string plain = words(read_entries(make("a.tsv", long_text())));
  EXPECT_EQ(words(read_entries(make("a.tsv.gz", gzipped(long_text())))), plain);
  EXPECT_EQ(words(read_entries(make("a.tsv.xz", xzipped(long_text())))), plain);
  EXPECT_EQ(words(read_entries(make("no-suffix-1", gzipped(long_text())))), plain);
  EXPECT_EQ(words(read_entries(make("no-suffix-2", xzipped(long_text())))), plain);
}

TEST_F(Files, ConcatenatedStreamsAreOneFile) {
  EXPECT_EQ(words(read_entries(make("a.gz", gzipped("1 2 3\n4 ") + gzipped("5 6\n")))), "1,2=3 4,5=6");
  EXPECT_EQ(words(read_entries(make("a.xz", xzipped("1 2 3\n4 ") + xzipped("5 6\n")))), "1,2=3 4,5=6");
}

TEST_F(Files, ZipMembersAreStoredOrDeflated) {
  // What a member packed by PPMd says of the memory it wants is believed by libarchive: 256 MB for 60 bytes.
  const auto with_method = [](char method) {
    std::string zip("PK\x03\x04\x3f\x00\x00\x00", 8);
    zip += std::string{method, 0} + std::string(8, '\0') + std::string("\x04\0\0\0\x04\0\0\0\x06\0\0\0", 12);
    return zip + "u.data" + "\x3f\x0f" + "ab";
  };
  for (const char method : {12, 14, 93, 95, 98}) {
    expect_says(table_error(make("packed.zip", with_method(method))),
                {"packed.zip:u.data", "not read", "deflate or stored"});
  }
}

TEST_F(Files, TruncatedGzip) {
  const std::string whole = gzipped(long_text());
  for (const std::size_t size : {std::size_t{5}, whole.size() / 2, whole.size() - 1})
    expect_says(table_error(make("cut.tsv.gz", whole.substr(0, size))), {"cut.tsv.gz", "ends early", "truncated"});
}

// A pipe gives its bytes once: whoever opens it again to look at its first lines has lost them.
TEST_F(Files, PipesAreReadFromTheirFirstByte) {
  const std::string& text = long_text();
  const std::string expected = words(read_entries(make("plain.tsv", text)));
  for (const std::string& bytes : {text, gzipped(text), xzipped(text), zipped({{"ml/u.data", text}})}) {
    const std::string pipe = path("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { make("pipe", bytes); });
    EXPECT_EQ(words(read_entries(pipe)), expected);
    writer.join();
    std::filesystem::remove(pipe);
  }
}

TEST_F(Files, TruncatedXz) {
  const std::string whole = xzipped(long_text());
  for (const std::size_t size : {std::size_t{5}, whole.size() / 2, whole.size() - 1})
    expect_says(table_error(make("cut.tsv.xz", whole.substr(0, size))),
                {"cut.tsv.xz", "not a valid xz file", "truncated"});
}

TEST_F(Files, DamagedOrWronglyNamedCompression) {
  std::string damaged = gzipped(long_text());
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 0x55);  // the checksum
  expect_says(table_error(make("a.gz", damaged)), {"a.gz", "not a valid gzip file"});
  damaged = xzipped(long_text());
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  expect_says(table_error(make("a.xz", damaged)), {"a.xz", "not a valid xz file", "damaged"});
  expect_says(table_error(make("b.gz", long_text())), {"b.gz", "not a valid gzip file"});
  expect_says(table_error(make("b.xz", long_text())), {"b.xz", "not a valid xz file"});
  expect_says(table_error(make("c.gz", "")), {"c.gz", "is empty"});
  expect_says(table_error(make("c.xz", "")), {"c.xz", "is empty"});
}

TEST_F(Files, CorruptZip) {
  const std::string whole = zipped({{"ml/u.data", long_text()}});
  expect_says(table_error(make("cut.zip", whole.substr(0, whole.size() / 2))), {"cut.zip", "not a valid zip archive"});
  expect_says(table_error(make("text.zip", "1 2 3\n")), {"text.zip", "not a valid zip archive"});
  expect_says(table_error(make("none.zip", "")), {"none.zip", "empty"});
  std::string damaged = whole;
  damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 0x55);
  expect_says(table_error(make("damaged.zip", damaged)), {"damaged.zip:ml/u.data", "damaged"});
}

TEST_F(Files, ZipWithoutRatings) {
  expect_says(table_error(make("ml.zip", zipped({{"ml/README", "x"}, {"ml/movies.csv", "y"}}))),
              {"ml.zip", "no ratings file", "u.data, ratings.dat, ratings.csv", "ml/README, ml/movies.csv"});
}

TEST_F(Files, ErrorsInsideOfAZipNameTheMember) {
  expect_says(table_error(make("ml.zip", zipped({{"ml/ratings.csv", "userId,movieId,rating\n1,2,three\n"}}))),
              {"ml.zip:ml/ratings.csv', line 2", "'three'"});
}

TEST_F(Files, WritesAndReplaces) {
  write_file(path("a"), "one");
  EXPECT_EQ(content("a"), "one");
  write_file(path("a"), "two and more");
  EXPECT_EQ(content("a"), "two and more");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Files, KeepsModeAndLink) {
  make("a", "one");
  chmod(path("a").c_str(), 0640);
  std::filesystem::create_symlink("a", path("link"));
  write_file(path("link"), "two");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  std::filesystem::create_symlink("to-be", path("early"));  // to a file that does not exist yet
  write_file(path("early"), "three");
  EXPECT_TRUE(std::filesystem::is_symlink(path("early")));
  EXPECT_TRUE(std::filesystem::is_regular_file(path("to-be")));
  EXPECT_EQ(content("a"), "two");
  struct stat status {};
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST_F(Files, DevicesAreWrittenNotReplaced) {
  std::filesystem::create_symlink("/dev/null", path("null"));
  write_file(path("null"), "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Files, FullDevice) {
  std::filesystem::create_symlink("/dev/full", path("full"));
  expect_says(error_of([&] { write_file(path("full"), "text"); }), {"cannot write", "full", "No space left on device"});
}

TEST_F(Files, MissingFolderToWriteTo) {
  expect_says(error_of([&] { write_file(path("none/a.json"), "x"); }), {"none/a.json", "the folder", "does not exist"});
  expect_says(error_of([&] { write_file(folder_.string(), "x"); }), {folder_.string(), "is a folder"});
  make("plain", "x");
  expect_says(error_of([&] { write_file(path("plain/a"), "x"); }), {"plain/a", "Not a directory"});
}

// A limit on the size of files fails the write half way, as a full disk does.
TEST_F(Files, FailedWriteLeavesTheOldFileAndNoRest) {
  make("a", "old");
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto former = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit low = before;
  low.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  std::string message;
  try {
    write_file(path("a"), std::string(100000, 'x'));
  } catch (const Error& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, former);
  expect_says(message, {"cannot write", path("a"), "File too large"});
  EXPECT_EQ(content("a"), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Files, FolderWithoutPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere";
  std::filesystem::create_directory(path("locked"));
  chmod(path("locked").c_str(), 0555);
  expect_says(error_of([&] { write_file(path("locked/a"), "x"); }), {"locked/a", "Permission denied"});
}

TEST_F(Files, ArchivesHaveTheSameBytesEveryTime) {
  EXPECT_EQ(zipped({{"a", long_text()}, {"b", "x"}}), zipped({{"a", long_text()}, {"b", "x"}}));
}

}  // namespace
}  // namespace tracenorm::io
