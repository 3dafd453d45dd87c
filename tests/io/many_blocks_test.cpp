// Files of many blocks and several rounds: what is read, and what is wrong with it, must not depend on the threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/random.hpp"
#include "helpers.hpp"
#include "io/ids.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {
namespace {

struct Line {
  std::string row;
  std::string col;
  int value;
};

/// Enough lines for several rounds of several blocks; ids come again all over the file, and new ones up to its end.
std::vector<Line> many_lines(bool texts) {
  std::vector<Line> lines;
  Random random(7);
  constexpr std::size_t count = 400'000;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint64_t row = 3 * random.below(k / 8 + 10);
    const std::string word = std::to_string(row);
    lines.push_back({texts && row % 2 == 1 ? "user " + word : word, std::to_string(k), static_cast<int>(k % 10)});
  }
  return lines;
}

std::string text_of(const std::vector<Line>& lines, char separator, const char* line_end) {
  std::string text;
  for (const Line& line : lines) {
    text += line.row + separator + line.col + separator + std::to_string(line.value) + separator + "2005-12-31";
    text += line_end;
  }
  return text;
}

class ManyBlocks : public FolderTest {
 protected:
  static NamedEntries read(const std::string& file, int threads) {
    ReadOptions options;
    options.threads = threads;
    return read_entries(file, options);
  }
  void expect_lines(const std::string& file, const std::vector<Line>& lines) {
    const NamedEntries one = read(file, 1);
    ASSERT_EQ(one.entries.size(), static_cast<Offset>(lines.size()));
    for (std::size_t k = 0; k < lines.size(); ++k) {
      ASSERT_EQ(one.row_labels.name(one.entries.row[k]), lines[k].row) << k;
      ASSERT_EQ(one.col_labels.name(one.entries.col[k]), lines[k].col) << k;
      ASSERT_EQ(one.entries.value[k], Real(lines[k].value)) << k;
    }
    for (const int threads : {2, 5}) {
      const NamedEntries more = read(file, threads);
      EXPECT_EQ(more.row_labels.names, one.row_labels.names);
      EXPECT_EQ(more.col_labels.names, one.col_labels.names);
      EXPECT_EQ(more.entries.row, one.entries.row);
      EXPECT_EQ(more.entries.col, one.entries.col);
      EXPECT_EQ(more.entries.value, one.entries.value);
    }
  }
  std::string error(const std::string& text, int threads, const ReadOptions& given = {}) {
    ReadOptions options = given;
    options.threads = threads;
    return table_error(make("data.csv", text), options);
  }
};

TEST_F(ManyBlocks, IntegerIdsInNumericalOrder) {
  const std::vector<Line> lines = many_lines(false);
  expect_lines(make("data.csv", text_of(lines, ',', "\n")), lines);
  const NamedEntries table = read(path("data.csv"), 3);
  EXPECT_TRUE(std::is_sorted(table.row_labels.names.begin(), table.row_labels.names.end(),
                             [](const auto& a, const auto& b) { return std::stol(a) < std::stol(b); }));
}

TEST_F(ManyBlocks, OtherIdsInTheOrderOfTheirFirstAppearance) {
  std::vector<Line> lines = many_lines(true);
  lines[0].row = "a";
  expect_lines(make("data.tsv", text_of(lines, '\t', "\r\n")), lines);
  const NamedEntries table = read(path("data.tsv"), 3);
  Index next = 0;
  for (const Index row : table.entries.row) {
    ASSERT_LE(row, next);
    next = std::max(next, row + 1);
  }
  EXPECT_EQ(next, table.rows);
}

TEST_F(ManyBlocks, CompressedTextAndTextWithoutALastLineEnd) {
  const std::vector<Line> lines = many_lines(false);
  std::string text = text_of(lines, ',', "\n");
  text.pop_back();
  expect_lines(make("data.csv.gz", gzipped(text)), lines);
}

TEST_F(ManyBlocks, TheFirstBadLineIsNamed) {
  const std::vector<Line> lines = many_lines(false);
  const std::string good = text_of(lines, ',', "\n");
  const auto behind = [&](std::string_view more) { return std::string(good).append(more); };
  const auto between = [&](std::string_view more) { return behind(more).append(good); };
  ReadOptions counted;
  counted.format = Format::libmf;
  for (const int threads : {1, 4}) {
    const auto says = [&](const std::string& text, std::initializer_list<std::string_view> parts) {
      expect_says(error(text, threads), parts);
    };
    says(between("1,2,x,\n").append("1,2\n"), {"line 400001:", "'x' is not a number"});
    says(behind("1,2\n3,4,x,\n"), {"line 400001:", "2 fields where at least 3 are needed"});
    says(behind(",2,3,\n1,2,x,\n"), {"line 400001:", "the row id is empty"});
    says(behind("1,\xff,3,\n1,2,x,\n"), {"line 400001:", "column id", "not UTF-8"});
    says(between("1,2,3,\"\n1,2,x,\n"), {"line 400002:"});  // fields behind those that are needed are not looked at
    says(between(std::string_view("1,2\0,3,\n", 8)), {"line 400001:", "zero byte"});
    says(behind("\n\n").append(good, 0, good.find('\n') + 1), {"line 400003:", "already given at line 1;"});
    expect_says(error(behind("-1,2,3,\n1,x,3,\n"), threads, counted), {"line 400001:", "row index -1 is negative"});
  }
}

TEST_F(ManyBlocks, LinesLongerThanABlock) {
  const std::string name(700'000, 'n');
  std::string text = "a,b,1\n";
  for (int k = 0; k < 30; ++k) text += name + std::to_string(k % 3) + ",c" + std::to_string(k) + ",2\n";
  const NamedEntries table = read(make("data.csv", text), 2);
  EXPECT_EQ(table.rows, 4);
  EXPECT_EQ(table.cols, 31);
  EXPECT_EQ(table.row_labels.names[3], name + "2");
}

TEST_F(ManyBlocks, DuplicatesFarApart) {
  std::vector<Line> lines = many_lines(false);
  for (std::size_t k = 0; k < 1000; ++k) lines.push_back({lines[k].row, lines[k].col, 0});
  ReadOptions options;
  options.duplicates = ReadOptions::Duplicates::last;
  const std::string file = make("data.csv", text_of(lines, ',', "\n"));
  for (const int threads : {1, 3}) {
    options.threads = threads;
    const NamedEntries table = read_entries(file, options);
    ASSERT_EQ(table.entries.size(), static_cast<Offset>(lines.size() - 1000));
    for (std::size_t k = 0; k < 1000; ++k) ASSERT_EQ(table.entries.value[k], Real(0));
    EXPECT_EQ(table.entries.value[1005], Real(5));
  }
}

TEST(IdMap, IntegersThatCollideUnderAMultiplicationByTheGoldenRatio) {
  // Their products with 2^64 / phi have the same upper bits: with that as a hash they all begin their search at the
  // same place, and a hundred thousand of them would take minutes.
  constexpr std::uint64_t inverse = 0xf1de83e19937733dU;  // of 0x9e3779b97f4a7c15, modulo 2^64
  static_assert(inverse * 0x9e3779b97f4a7c15U == 1);
  const auto integer = [](Index k) { return static_cast<std::int64_t>(inverse * static_cast<std::uint64_t>(k)); };
  IdMap ids("row id", [] { return std::string(); });
  constexpr Index count = 300'000;
  for (Index k = 0; k < count; ++k) ASSERT_EQ(ids.add(integer(k)), k);
  for (Index k = 0; k < count; ++k) ASSERT_EQ(ids.find(integer(k)), k);
  EXPECT_EQ(ids.find(integer(count)), -1);
}

TEST(IdMap, TextsOfAllLengthsAmongIntegers) {
  IdMap ids("row id", [] { return std::string(); });
  std::vector<std::string> names;
  for (int length = 1; length < 40; ++length) {
    for (const char letter : {'a', 'b', '0', '-'})
      names.push_back(std::string(static_cast<std::size_t>(length), letter));
  }
  names.emplace_back("12");
  for (const std::string& name : names) EXPECT_EQ(ids.find(name), -1) << name;
  for (std::size_t k = 0; k < names.size(); ++k) EXPECT_EQ(ids.add(names[k]), static_cast<Index>(k)) << names[k];
  for (std::size_t k = 0; k < names.size(); ++k) EXPECT_EQ(ids.find(names[k]), static_cast<Index>(k)) << names[k];
  std::vector<Index> renumbered;
  EXPECT_EQ(ids.finish(renumbered).names, names);
  EXPECT_TRUE(renumbered.empty());
  IdMap more("row id", [] { return std::string(); });
  more.add("b");
  std::vector<Index> indices;
  more.add(ids, indices);
  EXPECT_EQ(indices[1], 0);
  EXPECT_EQ(indices[0], 1);
  EXPECT_EQ(indices[2], 2);
}

}  // namespace
}  // namespace tracenorm::io
