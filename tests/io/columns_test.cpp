// Which columns of a text are taken, tables with holes, and values that look wrong.
#include "helpers.hpp"

namespace tracenorm::io {
namespace {

class ColumnChoice : public FolderTest {
 protected:
  NamedEntries read(const std::string& text, const Names& columns = {}) const {
    ReadOptions options;
    options.columns = columns;
    return read_entries(make("data.csv", text), options);
  }
  /// The message, which must name the setting that helps.
  [[nodiscard]] std::string refused(const std::string& text, const Names& columns = {}) const {
    try {
      read(text, columns);
    } catch (const ReadError& error) {
      EXPECT_EQ(error.setting(), "columns");
      return error.what();
    }
    ADD_FAILURE() << "no error about columns";
    return "";
  }
};

TEST_F(ColumnChoice, AnUnknownHeaderOfFourIsAnError) {
  expect_says(refused("rating_id,who,film,stars\n1,ann,Heat,4\n2,bob,Up,5\n"),
              {"data.csv", "4 columns", "row, column and value", "rating_id,who,film,stars", "2,bob,Up,5"});
  expect_says(refused("user,item,a,b\n1,2,3,4\n"), {"4 columns"});
  expect_says(refused("user,item,timestamp\n1,2,881250949\n"), {"nothing says"});
}

TEST_F(ColumnChoice, FourColumnsOfNumbersNeedAReason) {
  expect_says(refused("1 2 3 4\n2 3 4 5\n"), {"4 columns", "1 2 3 4"});
  EXPECT_EQ(words(read("1,2,3,881250949\n4,5,6,881250950\n")), "1,2=3 4,5=6") << "a Unix time explains the fourth";
  EXPECT_EQ(words(read("1\t2\t3\t2005-09-06\n4\t5\t6\t2005-10-01\n")), "1,2=3 4,5=6");
  EXPECT_EQ(words(read_entries(make("u.data", "1\t2\t3\t0\n"))), "1,2=3") << "so does a known name";
}

TEST_F(ColumnChoice, ByName) {
  const NamedEntries data = read("rating_id,who,film,stars\n1,ann,Heat,4\n2,bob,Up,5\n", {"who", "film", "stars"});
  EXPECT_EQ(words(data), "ann,Heat=4 bob,Up=5");
  EXPECT_EQ(data.columns, "row 'who', column 'film', value 'stars'; not used: 'rating_id'");
}

TEST_F(ColumnChoice, ByNumber) {
  EXPECT_EQ(words(read("1 2 3 4\n2 3 4 5\n", {"4", "2", "1"})), "4,2=1 5,3=2");
  EXPECT_EQ(words(read("a,b,c,d\n1,2,3,4\n", {"2", "3", "4"})), "2,3=4") << "a header is still seen";
}

TEST_F(ColumnChoice, NamesExplainWhatTheyCan) {
  EXPECT_EQ(words(read("who,film,stars,timestamp\nann,Heat,4,881250949\n")), "ann,Heat=4");
  EXPECT_EQ(words(read("stars,who,movie\n4,ann,Heat\n")), "ann,Heat=4");
  EXPECT_EQ(words(read("source,target,weight\na,b,2\n")), "a,b=2") << "a lone weight is the value";
  EXPECT_EQ(read("userId,movieId,rating,timestamp\n1,2,3,4\n").columns,
            "row 'userId', column 'movieId', value 'rating'; not used: 'timestamp'");
  EXPECT_EQ(read("1,2,3\n").columns, "row 1, column 2, value 3");
}

TEST_F(ColumnChoice, WeightsAndTimes) {
  const std::string text = "user,item,rating,weight,date\na,x,4,0.5,2005-09-06\nb,x,5,2,2005-10-01\n";
  const NamedEntries named = read(text);
  EXPECT_EQ(named.weight, (std::vector<Real>{0.5, 2}));
  EXPECT_TRUE(named.time.empty()) << "read on demand only";
  const NamedEntries chosen = read(text, {"user", "item", "rating", "", "date"});
  EXPECT_TRUE(chosen.weight.empty());
  EXPECT_EQ(chosen.time, (std::vector<double>{20050906, 20051001}));
  ReadOptions options;
  options.duplicates = ReadOptions::Duplicates::last;
  const NamedEntries last =
      read_entries(make("twice.csv", "user,item,rating,weight\na,x,4,1\nb,x,3,7\na,x,5,2\n"), options);
  EXPECT_EQ(words(last), "a,x=5 b,x=3");
  EXPECT_EQ(last.weight, (std::vector<Real>{2, 7})) << "the weight goes with its value";
}

TEST_F(ColumnChoice, ThatCannotBe) {
  expect_says(refused("a,b,c\n1,2,3\n", {"a", "b", "z"}), {"no column 'z'", "a, b, c"});
  expect_says(refused("1,2,3\n", {"1", "2", "4"}), {"3 columns", "no column 4"});
  expect_says(refused("1,2,3\n", {"1", "2"}), {"2 columns were chosen", "row, column, value"});
}

TEST_F(ColumnChoice, ValuesThatLookLikeIds) {
  std::string text = "a,b,c\n";
  for (int k = 0; k < 300; ++k) text += fmt::format("{},{},{}\n", k, k % 7, k * 13);
  expect_says(read(text).columns, {"value 'c'", "whole numbers from 0 to 3887", "ids"});
  EXPECT_EQ(read(text, {"a", "c", "b"}).columns.find("ids"), std::string::npos);
}

TEST_F(ColumnChoice, AQuoteThatIsNotClosed) {
  expect_says(error_of([&] { read("ann,Heat,4\n\"bob,Up,5\ncay,Jaws,3\n"); }),
              {"data.csv', line 2", "quote", "bob,Up"});
  expect_says(error_of([&] { read("ann,Heat,4\n\"bob\" jr,Up,5\n"); }), {"line 2", "quote"});
  expect_says(error_of([&] { read_pairs(make("pairs.csv", "ann,Heat\n\"bob,Up\n")); }), {"line 2", "quote"});
  EXPECT_EQ(words(read("5\" disk,Up,5\n")), "5\" disk,Up=5") << "within a field it is a character";
}

TEST_F(ColumnChoice, PairsBelowAnUnknownHeader) {
  const auto first_row = [&](const std::string& text) { return read_pairs(make("pairs.csv", text)).row.front(); };
  EXPECT_EQ(first_row("who,what\n196,242\n186,302\n"), "196");
  EXPECT_EQ(first_row("who,film\nann,Heat\n"), "ann") << "film is a known word";
  EXPECT_EQ(first_row("who,what,stars\nann,Heat,4\n"), "who") << "names may be anything: the program asks";
  EXPECT_EQ(first_row("bob,7\n196,242\nann,3\n"), "bob");
  ReadOptions options;
  options.columns = {"what", "who"};
  const Pairs chosen = read_pairs(make("pairs.csv", "who,what\nann,Heat\n"), options);
  EXPECT_EQ(chosen.row, Names{"Heat"});
  EXPECT_EQ(chosen.col, Names{"ann"});
}

class TablesWithHoles : public FolderTest {};

/// As the Jester data are published: a count, then one column a joke, 99 where there is no rating.
std::string jester() {
  std::string text;
  for (int row = 0; row < 12; ++row) {
    text += "7";
    for (int col = 0; col < 20; ++col)
      text += (row + col) % 3 == 0 ? ",99" : fmt::format(",{}", (row * col) % 20 - 9.5);
    text += "\n";
  }
  return text;
}

TEST_F(TablesWithHoles, Jester) {
  const std::string file = make("jester-data-1.csv", jester());
  const NamedEntries plain = read_entries(file);
  EXPECT_EQ(plain.cols, 21) << "recognised as a wide table";
  expect_says(plain.columns, {"a matrix", "99 is about", "far from it", "missing"});
  ReadOptions options;
  options.missing = {"99"};
  options.skip_columns = {"1"};
  const NamedEntries data = read_entries(file, options);
  EXPECT_EQ(data.rows, 12);
  EXPECT_EQ(data.cols, 20);
  EXPECT_EQ(data.entries.size(), 160);
  EXPECT_EQ(data.entries.value.front(), Real(-9.5));
  EXPECT_EQ(data.columns.find("far from"), std::string::npos);
  const Matrix matrix = read_matrix(file, options);
  EXPECT_EQ(matrix.cols, 20);
  EXPECT_TRUE(std::isnan(matrix.value[0]));
}

TEST_F(TablesWithHoles, NamesOfRowsAndColumns) {
  ReadOptions options;
  options.format = Format::matrix_text;
  const auto read = [&](const std::string& text) { return read_entries(make("wide.csv", text), options); };
  EXPECT_EQ(words(read("user,Heat,Up\nann,4,\nbob,NA,5\n")), "ann,Heat=4 bob,Up=5");
  EXPECT_EQ(words(read(",1,2\n17,4,3\n18,,5\n")), "17,1=4 17,2=3 18,2=5") << "numbers as names";
  EXPECT_EQ(words(read("Heat,Up\nann,4,3\n")), "ann,Heat=4 ann,Up=3") << "a header without the first column";
  EXPECT_EQ(words(read("ann,4,3\nbob,,5\n")), "ann,0=4 ann,1=3 bob,1=5");
  EXPECT_EQ(words(read("Heat,Up\n4,3\n1,2\n")), "0,Heat=4 0,Up=3 1,Heat=1 1,Up=2");
  EXPECT_EQ(words(read("4,3\n1,2\n")), "0,0=4 0,1=3 1,0=1 1,1=2");
  options.skip_columns = {"age"};
  EXPECT_EQ(words(read("user,age,Heat\nann,33,4\nbob,44,5\n")), "ann,Heat=4 bob,Heat=5");
  options.skip_columns = {};
  options.missing = {"?", "-1"};
  EXPECT_EQ(words(read("user,Heat,Up\nann,?,-1.0\nbob,3,?\n")), "bob,Heat=3");
}

TEST_F(TablesWithHoles, AWideTableWithNamesIsRecognised) {
  const std::string text = "user,a,b,c,d,e,f\nann,1,,3,,,\nbob,,,,,2,NA\n";
  EXPECT_EQ(words(read_entries(make("pivot.csv", text))), "ann,a=1 ann,c=3 bob,e=2");
}

TEST_F(TablesWithHoles, NamesThatAreGivenTwice) {
  ReadOptions options;
  options.format = Format::matrix_text;
  expect_says(table_error(make("a.csv", "user,x,y\nann,1,2\nann,3,4\n"), options),
              {"line 3", "row name 'ann'", "twice"});
  expect_says(table_error(make("a.csv", "user,x,x\nann,1,2\n"), options), {"line 1", "column name 'x'", "twice"});
}

TEST_F(TablesWithHoles, MissingInOtherFormats) {
  ReadOptions options;
  options.missing = {"99", "-1"};
  EXPECT_EQ(words(read_entries(make("t.tsv", "a\tx\t99\nb\tx\t4\nb\ty\t-1\n"), options)), "b,x=4");
  const std::string market = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 99\n1 2 4\n2 1 -1\n";
  EXPECT_EQ(words(read_entries(make("m.mtx", market), options)), "1,2=4");
  EXPECT_EQ(words(read_entries(make("m.npy", npy<double>("<f8", {2, 2}, {99, 1, 2, -1})), options)), "0,1=1 1,0=2");
}

TEST_F(TablesWithHoles, ChoicesThatNothingLooksAt) {
  ReadOptions options;
  options.columns = {"1", "2", "3"};
  const std::string array = make("m.npy", npy<double>("<f8", {1, 2}, {1, 2}));
  expect_says(table_error(array, options), {"m.npy", "no columns to choose"});
  options = {};
  options.skip_columns = {"1"};
  expect_says(table_error(array, options), {"m.npy", "no columns to skip"});
}

}  // namespace
}  // namespace tracenorm::io
