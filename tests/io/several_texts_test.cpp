#include "helpers.hpp"
#include "support/thread_ranks.hpp"

namespace tracenorm::io {
namespace {

class SeveralTexts : public FolderTest {
 protected:
  /// Files a.csv, b.csv, ... of these texts.
  Names make_all(const std::vector<std::string>& texts) const {
    Names paths;
    for (const std::string& text : texts)
      paths.push_back(make(std::string(1, static_cast<char>('a' + paths.size())) + ".csv", text));
    return paths;
  }
  [[nodiscard]] std::string read(const std::vector<std::string>& texts, const ReadOptions& options = {}) const {
    return words(read_entries(make_all(texts), options));
  }
  [[nodiscard]] std::string fails(const std::vector<std::string>& texts) const {
    return error_of([&] { read_entries(make_all(texts)); });
  }
};

TEST_F(SeveralTexts, AreReadAsOne) {
  const std::string header = "user,item,rating\n";
  const std::string whole = words(read_entries(make("whole.csv", header + "b,x,1\na,y,2\nb,y,3\nc,x,4\n")));
  EXPECT_EQ(whole, "b,x=1 a,y=2 b,y=3 c,x=4");
  EXPECT_EQ(read({header + "b,x,1\na,y,2\n", "b,y,3\nc,x,4\n"}), whole) << "a header in the first alone";
  EXPECT_EQ(read({header + "b,x,1\na,y,2\n", header + "b,y,3\n", header + "c,x,4\n"}), whole);
  EXPECT_EQ(read({header + "b,x,1\na,y,2", "b,y,3\r\n", "c,x,4"}), whole) << "no newline at the end";
  EXPECT_EQ(read({"", header + "b,x,1\na,y,2\n", "", "\n\n", header, "b,y,3\nc,x,4\n", ""}), whole) << "empty ones";
  EXPECT_EQ(read({header + "b,x,1\na,y,2\n", "\xef\xbb\xbf# more\r\nuser,\"item\",rating\r\nb,y,3\r\nc,x,4"}), whole);
}

TEST_F(SeveralTexts, NumberIdsAsOne) {
  const NamedEntries table = read_entries(make_all({"7 b 1\n", "3 a 2\n7 a 3\n"}));
  EXPECT_EQ(table.row_labels.names, (Names{"3", "7"})) << "integers in numerical order";
  EXPECT_EQ(table.col_labels.names, (Names{"b", "a"})) << "others as they come";
  ReadOptions counted;
  counted.format = Format::libmf;
  EXPECT_EQ(read_entries(make_all({"0 1 1\n", "2 0 2\n"}), counted).rows, 3);
}

TEST_F(SeveralTexts, AreMatchedWithNames) {
  const NamedEntries table = read_entries(make("whole.csv", "a,x,1\nb,y,2\n"));
  const auto like = [&](Strangers strangers) {
    return read_entries_like(make_all({"b,x,3\n", "\nc,x,4\na,y,5\n"}), table.row_labels, table.col_labels, 2, 2,
                             strangers);
  };
  EXPECT_EQ(words(like(Strangers::leave_out)), "b,x=3 a,y=5");
  expect_says(error_of([&] { like(Strangers::refuse); }), {"b.csv', line 2: the row 'c' is unknown"});
}

TEST_F(SeveralTexts, OfPairsAreReadAsOneAndByRanks) {
  const std::string header = "item,user\n";
  std::vector<std::string> texts{header, "\n", header, "x,\"a, b\"\n"};
  for (std::size_t k = 0; k < 300; ++k) texts[k % 3] += fmt::format("item{0},user{0}\n", k);
  texts[0].pop_back();  // no newline at the end
  const Names paths = make_all(texts);
  const Pairs alone = read_pairs(paths);
  ASSERT_EQ(alone.row.size(), 301U);
  EXPECT_EQ(alone.row[0], "user0");
  EXPECT_EQ(alone.row[100], "user1");
  EXPECT_EQ(alone.row[300], "a, b");
  EXPECT_EQ(alone.col[300], "x");
  for (const int size : {2, 5}) {
    std::vector<Pairs> parts(static_cast<std::size_t>(size));
    test::ThreadRanks::run(
        size, [&](Ranks& ranks) { parts[static_cast<std::size_t>(ranks.rank())] = read_pairs(paths, {}, &ranks); });
    Pairs joined;
    for (const Pairs& part : parts) {
      EXPECT_LT(part.row.size(), 2 * 301U / static_cast<std::size_t>(size));
      EXPECT_EQ(part.header, alone.header);
      joined.row.insert(joined.row.end(), part.row.begin(), part.row.end());
      joined.col.insert(joined.col.end(), part.col.begin(), part.col.end());
    }
    EXPECT_EQ(joined.row, alone.row);
    EXPECT_EQ(joined.col, alone.col);
  }
  expect_says(error_of([&] { read_pairs(make_all({"a b\n", "c d\ne\n"})); }), {"b.csv', line 2", "1 field"});
}

TEST_F(SeveralTexts, MayBePacked) {
  const Names paths{make("a.csv", "a,x,1\n"), make("b.csv.gz", gzipped("a,y,2")), make("c.csv.xz", xzipped("b,x,3\n")),
                    make("d.zip", zipped({{"ratings.csv", "b,y,4"}}))};
  EXPECT_EQ(words(read_entries(paths)), "a,x=1 a,y=2 b,x=3 b,y=4");
}

TEST_F(SeveralTexts, SayFileAndLine) {
  const std::string header = "user,item,rating\n";
  expect_says(fails({"a,x,1\na,y,2\n", "b,x,1\nb,y,many\n"}), {"b.csv', line 2: 'many' is not a number"});
  expect_says(fails({header + "a,x,1\n", header + "\nb,x,1\na,x,2\n"}),
              {"b.csv', line 4: row 'a', column 'x' was already given at '", "a.csv', line 2;"});
  expect_says(fails({"a,x,1\n", "b,x,1", "b,x,2\n"}), {"c.csv', line 1:", "b.csv', line 1;"});
  expect_says(fails({"a,x,1\n", "b,y,1\nb,x,2\nb,y,3\n"}), {"b.csv', line 3:", "already given at line 1;"});
  expect_says(fails({"a,x,1\n", std::string("b,y,1\nb,x") + '\0' + ",2\n"}), {"b.csv', line 2"});
}

TEST_F(SeveralTexts, MustBeAlike) {
  const std::string first = "user,item,rating\na,x,1\n";
  expect_says(fails({first, "item,user,rating\n"}),
              {"b.csv', line 1: the header is item, user, rating", "a.csv' has user"});
  expect_says(fails({"a,x,1\n", first}), {"b.csv', line 1: the header is user", "has none"});
  expect_says(fails({first, "# c\nb;x;1\n"}), {"b.csv', line 2: the fields are separated by semicolons", "by commas"});
  expect_says(fails({first, "b,x,1,2\n"}), {"b.csv', line 1: 4 fields where", "has 3"});
  expect_says(fails({first, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n"}),
              {"b.csv' does not hold"});
  expect_says(fails({"", "# nothing\n"}), {"a.csv' is empty"});
  expect_says(fails({"user,item,rating\n", "user,item,rating\n"}), {"holds a header but no entries"});
}

TEST_F(SeveralTexts, AreFoundByFolderPatternAndList) {
  const Names paths = make_all({"a,x,1\n", "b,x,2\n"});
  make(".hidden", "");
  make("_SUCCESS", "");
  EXPECT_EQ(data_files({folder_.string()}), paths);
  EXPECT_EQ(data_files({path("?.csv")}), paths);
  const std::string list = make("_list", "b.csv\r\n\na.csv\n");
  EXPECT_EQ(data_files({"@" + list}), (Names{paths[1], paths[0]}));
  EXPECT_EQ(data_files({paths[1], paths[0]}), (Names{paths[1], paths[0]})) << "in the order they are given";
  EXPECT_EQ(data_files({"-"}), (Names{"-"}));
  const std::string odd = make("[x].csv", "");
  EXPECT_EQ(data_files({odd}), (Names{odd})) << "a file's name is no pattern";
}

TEST_F(SeveralTexts, AreRefusedWhereTheyCannotBeMeant) {
  const Names paths = make_all({"a,x,1\n"});
  expect_says(error_of([&] { data_files({paths[0], folder_.string() + "/./a.csv"}); }), {"are the same file"});
  expect_says(error_of([&] { data_files({paths[0], paths[0]}); }), {"is given twice"});
  expect_says(error_of([&] { data_files({paths[0], "-"}); }), {"standard input"});
  expect_says(error_of([&] { data_files({paths[0], path("no.csv")}); }), {"no.csv': No such file"});
  expect_says(error_of([&] { data_files({paths[0], "/dev/null"}); }), {"is no regular file"});
  expect_says(error_of([&] { data_files({path("*.txt")}); }), {"no file has such a name"});
  std::filesystem::create_directory(path("sub"));
  expect_says(error_of([&] { data_files({folder_.string()}); }), {"holds another folder, 'sub'"});
  expect_says(error_of([&] { data_files({path("sub")}); }), {"folder without files"});
}

}  // namespace
}  // namespace tracenorm::io
