#include "helpers.hpp"
#include "io/ids.hpp"

namespace tracenorm::io {
namespace {

class Triplets : public FolderTest {
 protected:
  [[nodiscard]] std::string read(const std::string& text, const ReadOptions& options = {}) const {
    return words(read_entries(make("data.txt", text), options));
  }
  [[nodiscard]] std::string fails(const std::string& text, const ReadOptions& options = {}) const {
    return table_error(make("data.txt", text), options);
  }
};

TEST_F(Triplets, MovieLensTabs) {
  const NamedEntries table =
      read_entries(make("u.data", "196\t242\t3\t881250949\n186\t302\t3\t891717742\n22\t377\t1\t878887116\n"));
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(table.cols, 3);
  EXPECT_EQ(words(table), "196,242=3 186,302=3 22,377=1");
  EXPECT_EQ(table.row_labels.names, (Names{"22", "186", "196"})) << "integers are put in numerical order";
  EXPECT_EQ(table.entries.row, (std::vector<Index>{2, 1, 0}));
}

TEST_F(Triplets, MovieLensColonsWithHalfStars) {
  EXPECT_EQ(read("1::122::5::838985046\n1::185::4.5::838983525\n"), "1,122=5 1,185=4.5");
  EXPECT_EQ(read("1::122::5\n1::185::0.5\n"), "1,122=5 1,185=0.5");
}

TEST_F(Triplets, MovieLensCsvWithHeader) {
  EXPECT_EQ(read("userId,movieId,rating,timestamp\n1,296,5.0,1147880044\n1,306,3.5,1147868817\n"), "1,296=5 1,306=3.5");
}

TEST_F(Triplets, MovieLensZipInPlace) {
  const std::string text = "1\t5\t3\t0\n2\t6\t4\t0\n";
  for (const char* member : {"ml-100k/u.data", "ratings.dat", "ml/ratings.csv"}) {
    const std::string archive = make("ml.zip", zipped({{"ml/README", "hello"}, {member, text}}));
    EXPECT_EQ(words(read_entries(archive)), "1,5=3 2,6=4");
    ReadOptions options;
    options.format = Format::triplets;
    EXPECT_EQ(words(read_entries(archive, options)), "1,5=3 2,6=4");
  }
}

TEST_F(Triplets, SeparatorsAreFound) {
  for (const char* text : {"1 2 3\n", "  1   2\t3 \n", "1\t2\t3\n", "1,2,3\n", "1;2;3\n", "1, 2, 3\n", "1::2::3\n"})
    EXPECT_EQ(read(text), "1,2=3") << text;
}

TEST_F(Triplets, HeaderNamesGiveTheOrderOfColumns) {
  EXPECT_EQ(read("rating,item_id,user_id\n4,b,a\n"), "a,b=4");
  EXPECT_EQ(read("timestamp;value;Row;Col\n99;1.5;r;c\n"), "r,c=1.5");
  EXPECT_EQ(read("\"movieId\",\"rating\",\"userId\"\n7,2,1\n"), "1,7=2");
}

TEST_F(Triplets, UnknownHeaderIsSkipped) { EXPECT_EQ(read("alpha,beta,gamma\n1,2,3\n"), "1,2=3"); }

TEST_F(Triplets, IdsAreKeptAsWritten) {
  const NamedEntries table = read_entries(make("a.tsv", "b\t01\t1\na\t1\t2\n\xc3\xa9t\xc3\xa9\t1.0\t3\n-3\t01\t4\n"));
  EXPECT_EQ(table.row_labels.names, (Names{"b", "a", "\xc3\xa9t\xc3\xa9", "-3"})) << "order of first appearance";
  EXPECT_EQ(table.col_labels.names, (Names{"01", "1", "1.0"}));
}

TEST_F(Triplets, LargeAndNegativeIntegersAreSorted) {
  const NamedEntries table = read_entries(make("a.tsv", "900000000000\t0\t1\n-5\t0\t2\n16777216\t0\t3\n7\t0\t4\n"));
  EXPECT_EQ(table.row_labels.names, (Names{"-5", "7", "16777216", "900000000000"}));
  EXPECT_EQ(words(table), "900000000000,0=1 -5,0=2 16777216,0=3 7,0=4");
}

TEST_F(Triplets, DigitsThatNoIntegerHoldsAreAName) {
  const std::string digits(40, '9');
  EXPECT_EQ(read(digits + ",2,3\n1,2,4\n"), digits + ",2=3 1,2=4");
}

TEST_F(Triplets, QuotedFields) {
  EXPECT_EQ(read("\"Smith, John\",\"the \"\"best\"\"\",5\n"), "Smith, John,the \"best\"=5");
}

TEST_F(Triplets, BlanksInsideOfTabSeparatedIds) {
  EXPECT_EQ(read("John Smith\tHeat (1995)\t5\n"), "John Smith,Heat (1995)=5");
}

TEST_F(Triplets, ExplicitZeroIsData) { EXPECT_EQ(read("1 2 0\n1 3 -0.5\n"), "1,2=0 1,3=-0.5"); }

TEST_F(Triplets, NumbersInEveryForm) {
  EXPECT_EQ(read("1 1 +2\n1 2 1e-2\n1 3 .5\n1 4 5.\n1 5 1e-400\n"), "1,1=2 1,2=0.01 1,3=0.5 1,4=5 1,5=0");
}

TEST_F(Triplets, ByteOrderMarkWindowsLineEndsAndMissingLastLineEnd) {
  EXPECT_EQ(read("\xef\xbb\xbfuserId,movieId,rating\r\n1,2,3\r\n\r\n4,5,6"), "1,2=3 4,5=6");
}

TEST_F(Triplets, CommentsAboveTheData) { EXPECT_EQ(read("# made by hand\n% too\n\n1 2 3\n#4 5 6\n"), "1,2=3 #4,5=6"); }

TEST_F(Triplets, ManyBlocks) {
  std::string text;
  constexpr int lines = 60000;  // well over one block of the reader
  for (int k = 0; k < lines; ++k) text += fmt::format("{}\tname-{}\t{}\n", k % 700, k / 700, k % 11);
  const NamedEntries table = read_entries(make("data.tsv", text));
  ASSERT_EQ(table.entries.size(), lines);
  EXPECT_EQ(table.rows, 700);
  for (int k = 0; k < lines; k += 997) {
    const auto at = static_cast<std::size_t>(k);
    EXPECT_EQ(table.row_labels.name(table.entries.row[at]), std::to_string(k % 700));
    EXPECT_EQ(table.col_labels.name(table.entries.col[at]), fmt::format("name-{}", k / 700));
    EXPECT_EQ(table.entries.value[at], static_cast<Real>(k % 11));
  }
}

TEST_F(Triplets, MissingFile) { expect_says(table_error(path("none.csv")), {"none.csv", "No such file"}); }
TEST_F(Triplets, Folder) { expect_says(table_error(folder_.string()), {folder_.string(), "folder"}); }
TEST_F(Triplets, EmptyFile) { expect_says(fails(""), {"data.txt", "empty", "row column value"}); }
TEST_F(Triplets, BlankFile) { expect_says(fails("\n \n"), {"data.txt", "empty"}); }
TEST_F(Triplets, OnlyHeader) { expect_says(fails("user,item,rating\n"), {"data.txt", "header but no entries"}); }

TEST_F(Triplets, TooFewFields) {
  expect_says(fails("1 2 3\n4 5\n"), {"data.txt', line 2", "2 fields", "at least 3", "'4 5'"});
  expect_says(fails("1,2\n"), {"line 1", "2 fields"});
  expect_says(fails("1\t2\t3\n4 5 6\n"), {"line 2", "1 field "});
}

TEST_F(Triplets, LetterWhereANumberBelongs) {
  expect_says(fails("1 2 3\n\n4 5 four\n"), {"line 3", "'four' is not a number", "3.5"});
  expect_says(fails("1 2 x\n4 5 6\n"), {"line 1", "'x' is not a number"});
  expect_says(fails("1 2 3.5stars\n"), {"'3.5stars' is not a number"});
}

TEST_F(Triplets, LongValueIsShortened) {
  const std::string message = fails("1 2 3\n1 3 " + std::string(5000, 'z') + "\n");
  expect_says(message, {"zzz...'"});
  EXPECT_LT(message.size(), 300U);
}

TEST_F(Triplets, NanAndInfinity) {
  expect_says(fails("1 2 3\n1 3 nan\n"), {"line 2", "'nan' is not a value", "leave the whole line out"});
  expect_says(fails("a b NA\nc d 3\n"), {"line 1", "'NA' is not a value"});
  expect_says(fails("1,2,3\n1,3,\n"), {"line 2", "'' is not a value"});
  expect_says(fails("1 2 3\n1 3 -inf\n"), {"line 2", "'-inf' is not finite"});
  expect_says(fails("1 2 3\n1 3 1e999\n"), {"line 2", "'1e999' is not finite"});
}

#ifndef TRACENORM_DOUBLE
TEST_F(Triplets, TooLargeForSinglePrecision) { expect_says(fails("1 2 1e39\n"), {"line 1", "'1e39' is too large"}); }
#endif

TEST_F(Triplets, EmptyId) { expect_says(fails("1,2,3\n,2,3\n"), {"line 2", "row id is empty"}); }

TEST_F(Triplets, IdThatIsNotUtf8) {
  expect_says(fails("a\tb\t3\ncaf\xe9\tb\t4\n"), {"line 2", "row id 'caf\\xe9' is not UTF-8"});
}

TEST_F(Triplets, BinaryGarbage) {
  expect_says(fails(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)), {"data.txt', line 2", "binary data"});
  expect_says(fails("1 2 3\n1 3 4\n" + std::string(10000, '\n') + std::string("\0", 1)), {"line 10003", "zero byte"});
  expect_says(fails(std::string("\xff\xfe"
                                "1\0\t\0",
                                6)),
              {"UTF-16", "UTF-8"});
}

TEST_F(Triplets, DuplicatesAreAnErrorByDefault) {
  expect_says(fails("a b 1\nc d 2\n\na b 3\nc d 4\n"),
              {"data.txt', line 4", "row 'a', column 'b'", "at line 1", "first, last or mean"});
}

TEST_F(Triplets, DuplicatesByChoice) {
  const std::string text = "a b 1\nc d 2\na b 4\na d 7\na b 10\n";
  ReadOptions options;
  options.duplicates = ReadOptions::Duplicates::first;
  EXPECT_EQ(read(text, options), "a,b=1 c,d=2 a,d=7");
  options.duplicates = ReadOptions::Duplicates::last;
  EXPECT_EQ(read(text, options), "a,b=10 c,d=2 a,d=7");
  options.duplicates = ReadOptions::Duplicates::mean;
  EXPECT_EQ(read(text, options), "a,b=5 c,d=2 a,d=7");
}

TEST_F(Triplets, LibmfCountsFromZero) {
  ReadOptions options;
  options.format = Format::libmf;
  const NamedEntries table = read_entries(make("data.txt", "0 3 1.5\n2 0 4\n"), options);
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(table.cols, 4);
  EXPECT_TRUE(table.row_labels.names.empty());
  EXPECT_EQ(table.row_labels.base, 0);
  EXPECT_EQ(words(table), "0,3=1.5 2,0=4");
}

TEST_F(Triplets, LibmfNeedsWholeNonNegativeIndices) {
  ReadOptions options;
  options.format = Format::libmf;
  expect_says(fails("0 0 1\n-1 0 1\n", options), {"line 2", "row index -1 is negative"});
  expect_says(fails("0 0 1\n0 1.5 1\n", options), {"line 2", "'1.5' is not a column index", "whole numbers from 0"});
  expect_says(fails("0 0 1\nbob 1 1\n", options), {"line 2", "'bob' is not a row index"});
  expect_says(fails("0 0 1\n2147483648 1 1\n", options), {"line 2", "2147483648 is too large", "2147483647"});
}

TEST(IdMap, RefusesMoreIdsThanAnIndexCanCount) {
  IdMap ids(
      "row id", [] { return std::string("'f', line 9"); }, 3);
  for (const char* id : {"a", "1", "b", "1"}) ids.add(id);
  expect_says(error_of([&] { ids.add("2"); }), {"'f', line 9", "more than 3 different row ids"});
}

TEST(IdMap, ManyIntegersWithACommonFactor) {
  IdMap ids("row id", [] { return std::string(); });
  for (int round = 0; round < 2; ++round)
    for (Index k = 0; k < 5000; ++k) EXPECT_EQ(ids.add(std::to_string(k * 1024)), k);
}

TEST_F(Triplets, Pairs) {
  const Pairs pairs = read_pairs(make("pairs.csv", "item,user\nb,a\n\n\"d, e\",c,ignored\n"));
  EXPECT_EQ(pairs.row, (Names{"a", "c"}));
  EXPECT_EQ(pairs.col, (Names{"b", "d, e"}));
  const Pairs plain = read_pairs(make("pairs.txt", "1 2\n3 4 5\n"));
  EXPECT_EQ(plain.row, (Names{"1", "3"}));
  EXPECT_EQ(plain.col, (Names{"2", "4"}));
}

TEST_F(Triplets, PairsThatCannotBeRead) {
  const auto pairs_error = [&](const char* text) {
    const std::string file = make("pairs.txt", text);
    return error_of([&] { read_pairs(file); });
  };
  expect_says(pairs_error(""), {"pairs.txt", "empty"});
  expect_says(pairs_error("user,item\n"), {"pairs.txt", "no pairs"});
  expect_says(pairs_error("1 2\n3\n"), {"pairs.txt', line 2", "'3'"});
}

TEST_F(Triplets, WrittenTablesReadBack) {
  const NamedEntries table =
      read_entries(make("in.csv", "\"a\tb\",\"#1\",0.1\n\" x\",\"say \"\"hi\"\"\",-3e-7\nplain,\"1,2\",16777216\n"));
  write_entries(path("out.tsv"), table);
  const NamedEntries again = read_entries(path("out.tsv"));
  EXPECT_EQ(again.row_labels.names, table.row_labels.names);
  EXPECT_EQ(again.col_labels.names, table.col_labels.names);
  EXPECT_EQ(again.entries.value, table.entries.value);
  EXPECT_EQ(words(again), words(table));
}

TEST_F(Triplets, ReadLikeAnotherTable) {
  const NamedEntries training = read_entries(make("train.txt", "a x 1\nb y 2\n"));
  const std::string test = make("test.txt", "b x 3\nc x 4\na z 5\na y 6\n");
  const auto read = [&](Strangers strangers) {
    return read_entries_like(test, training.row_labels, training.col_labels, 2, 2, strangers);
  };
  const NamedEntries table = read(Strangers::leave_out);
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(words(table), "b,x=3 a,y=6");
  EXPECT_EQ(table.entries.row, (std::vector<Index>{1, 0}));
  const Entries all = read(Strangers::keep).entries;
  EXPECT_EQ(all.row, (std::vector<Index>{1, Preparation::kUnknown, 0, 0}));
  EXPECT_EQ(all.col, (std::vector<Index>{0, 0, Preparation::kUnknown, 1}));
  EXPECT_EQ(all.value, (std::vector<Real>{3, 4, 5, 6}));
  expect_says(error_of([&] { read(Strangers::refuse); }), {"test.txt', line 2", "row 'c' is unknown"});
}

TEST_F(Triplets, ReadLikeMatchesPositionsWhereNeitherSideHasNames) {
  Labels from_one;
  from_one.base = 1;  // as Matrix Market gives
  const std::string file = make("test.npy", npy<float>("<f4", {2, 3}, {5, NAN, NAN, NAN, NAN, 6}));
  const NamedEntries table = read_entries_like(file, from_one, from_one, 2, 2, Strangers::leave_out);
  EXPECT_EQ(words(table), "1,1=5");
  const NamedEntries text =
      read_entries_like(make("t.txt", "2 1 9\n3 1 9\n"), from_one, from_one, 2, 2, Strangers::leave_out);
  EXPECT_EQ(words(text), "2,1=9");
}

TEST(LabelIndex, FindsNamesAndNumbers) {
  Labels named;
  named.names = {"x", "7"};
  const LabelIndex names(named, 2);
  EXPECT_EQ(names.find("7"), 1);
  EXPECT_EQ(names.find("y"), std::nullopt);
  Labels counted;
  counted.base = 1;
  const LabelIndex numbers(counted, 5);
  EXPECT_EQ(numbers.find("1"), 0);
  EXPECT_EQ(numbers.find("5"), 4);
  for (const char* text : {"0", "6", "01", "x", "", "99999999999999999999"})
    EXPECT_EQ(numbers.find(text), std::nullopt);
}

TEST(Format, Names) {
  EXPECT_EQ(parse_format("libmf"), Format::libmf);
  EXPECT_EQ(parse_format("auto"), Format::automatic);
  EXPECT_EQ(parse_format("matrix-market"), Format::matrix_market);
  try {
    parse_format("xlsx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    expect_says(error.what(), {"'xlsx'", "libmf"});
  }
}

}  // namespace
}  // namespace tracenorm::io
