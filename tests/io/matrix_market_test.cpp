#include <cmath>

#include "helpers.hpp"

namespace tracenorm::io {
namespace {

class MatrixMarket : public FolderTest {
 protected:
  [[nodiscard]] NamedEntries read(const std::string& text) const { return read_entries(make("a.mtx", text)); }
  [[nodiscard]] std::string fails(const std::string& text) const { return table_error(make("a.mtx", text)); }
};

TEST_F(MatrixMarket, CoordinateRealGeneral) {
  const NamedEntries table =
      read("%%MatrixMarket matrix coordinate real general\n% comment\n\n3 4 3\n1 1 1.5\n3 4 -2e1\n2 2 0\n");
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(table.cols, 4);
  EXPECT_EQ(table.row_labels.base, 1);
  EXPECT_TRUE(table.row_labels.names.empty());
  EXPECT_EQ(words(table), "1,1=1.5 3,4=-20 2,2=0") << "an explicit zero is data";
}

TEST_F(MatrixMarket, IntegerPatternAndSymmetric) {
  EXPECT_EQ(words(read("%%MatrixMarket Matrix Coordinate Integer General\n2 2 1\n2 1 7\n")), "2,1=7");
  EXPECT_EQ(words(read("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n")), "2,1=1 3,3=1 1,2=1");
}

TEST_F(MatrixMarket, IsFoundByContentAndInCompressedFiles) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 7\n";
  EXPECT_EQ(words(read_entries(make("a.txt", text))), "2,1=7");
  EXPECT_EQ(words(read_entries(make("a.mtx.gz", gzipped(text)))), "2,1=7");
}

TEST_F(MatrixMarket, ArrayIsByColumns) {
  const std::string file = make("a.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\nnan\n6\n");
  const Matrix matrix = read_matrix(file);
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.cols, 3);
  EXPECT_EQ(matrix.value[1], 3);
  EXPECT_EQ(matrix.value[3], 2);
  EXPECT_TRUE(std::isnan(matrix.value[2]));
  EXPECT_EQ(words(read_entries(file)), "1,1=1 1,2=3 2,1=2 2,2=4 2,3=6");
}

TEST_F(MatrixMarket, SymmetricArrayStoresOneTriangle) {
  const Matrix matrix = read_matrix(make("a.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n"));
  EXPECT_EQ(matrix.value, (std::vector<Real>{1, 2, 2, 3}));
}

TEST_F(MatrixMarket, CoordinatesAsAMatrixHaveHoles) {
  const Matrix matrix = read_matrix(make("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 5\n"));
  EXPECT_TRUE(std::isnan(matrix.value[0]));
  EXPECT_EQ(matrix.value[1], 5);
}

TEST_F(MatrixMarket, BadBanner) {
  expect_says(fails("1 2 3\n"), {"a.mtx', line 1", "'1 2 3' is not a Matrix Market banner", "%%MatrixMarket matrix"});
  expect_says(fails("%%MatrixMarket matrix coordinate complex general\n"), {"line 1", "'complex' is not read"});
  expect_says(fails("%%MatrixMarket matrix coordinate real hermitian\n"), {"'hermitian' is not read"});
  expect_says(fails("%%MatrixMarket matrix array pattern general\n"), {"cannot be a pattern"});
  expect_says(fails(""), {"a.mtx", "empty"});
}

TEST_F(MatrixMarket, BadSizes) {
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  expect_says(fails(banner), {"a.mtx", "ends before the line of sizes"});
  expect_says(fails(banner + "3 3\n"), {"line 2", "'3 3' is not the line of sizes", "rows columns entries"});
  expect_says(fails(banner + "3 x 1\n"), {"line 2", "'x' is not a number of columns"});
  expect_says(fails(banner + "-3 3 1\n"), {"line 2", "'-3' is not a number of rows"});
  expect_says(fails(banner + "3000000000 3 1\n1 1 1\n"), {"line 2", "3000000000 rows", "2147483647"});
  expect_says(fails(banner + "3 3 0\n"), {"line 2", "no entries"});
  expect_says(fails("%%MatrixMarket matrix coordinate real symmetric\n3 2 1\n1 1 1\n"), {"line 2", "square", "3 x 2"});
}

TEST_F(MatrixMarket, BadEntries) {
  const std::string start = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n";
  expect_says(fails(start + "3 1 1\n"), {"line 4", "row index 3 is outside of 1 to 2"});
  expect_says(fails(start + "1 0 1\n"), {"line 4", "column index 0 is outside of 1 to 3"});
  expect_says(fails(start + "-1 1 1\n"), {"line 4", "row index -1 is outside"});
  expect_says(fails(start + "1.5 1 1\n"), {"line 4", "'1.5' is not a row index", "whole number"});
  expect_says(fails(start + "1 2\n"), {"line 4", "2 fields where 3"});
  expect_says(fails(start + "1 2 abc\n"), {"line 4", "'abc' is not a number"});
  expect_says(fails(start + "1 2 inf\n"), {"line 4", "'inf' is not finite"});
}

TEST_F(MatrixMarket, WrongCount) {
  const std::string start = "%%MatrixMarket matrix coordinate real general\n2 2 2\n";
  expect_says(fails(start + "1 1 1\n"), {"a.mtx", "ends early", "2 entries", "1 are there"});
  expect_says(fails(start + "1 1 1\n1 2 1\n2 2 1\n"), {"line 5", "more than the 2 entries"});
  expect_says(fails("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n"),
              {"ends early", "4 entries", "3 are there"});
  // A line of sizes that lies must not take all memory.
  expect_says(fails("%%MatrixMarket matrix coordinate real general\n2 2 900000000000\n1 1 1\n"), {"ends early"});
}

TEST_F(MatrixMarket, Duplicates) {
  expect_says(fails("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n2 2 1\n1 2 4\n"),
              {"a.mtx', line 5", "row '1', column '2'", "line 3"});
  expect_says(fails("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n"),
              {"a.mtx", "column", "already given"});
}

TEST_F(MatrixMarket, DuplicatesInAHugeEmptyMatrix) {
  const std::string start = "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 3\n";
  expect_says(fails(start + "2000000000 5 1\n7 9 1\n2000000000 5 2\n"),
              {"line 5", "row '2000000000', column '5'", "line 3"});
  EXPECT_EQ(read(start + "2000000000 5 1\n7 9 1\n2000000000 6 2\n").entries.size(), 3);
}

TEST_F(MatrixMarket, TextOfRows) {
  const Matrix matrix = read_matrix(make("a.csv", "x,y,z\n1,2,3\n4,,NA\n"));
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.cols, 3);
  EXPECT_EQ(matrix.value[3], 4);
  EXPECT_TRUE(std::isnan(matrix.value[4]));
  EXPECT_TRUE(std::isnan(matrix.value[5]));
  const auto matrix_error = [&](const char* text) {
    const std::string file = make("a.txt", text);
    return error_of([&] { read_matrix(file); });
  };
  expect_says(matrix_error("1 2\n3\n"), {"a.txt', line 2", "1 field where the first row has 2"});
  expect_says(matrix_error("1 2\n3 x\n"), {"line 2", "'x' is not a number"});
  expect_says(matrix_error("1 2\n3 inf\n"), {"line 2", "'inf' is not finite"});
  expect_says(matrix_error(""), {"a.txt", "empty"});
}

TEST_F(MatrixMarket, TripletsAsAMatrix) {
  EXPECT_EQ(read_matrix(make("u.data", "1\t1\t5\t0\n2\t1\t4\t0\n")).value, (std::vector<Real>{5, 4}));
  EXPECT_EQ(read_matrix(make("b.csv", "user,item,rating\n1,1,5\n2,1,4\n")).value, (std::vector<Real>{5, 4}));
  EXPECT_EQ(read_matrix(make("c.txt", "1 1 5\n2 1 4\n")).value.size(), 6U) << "plain numbers are rows";
}

// Its banner was not seen behind the mark, and "3 3 2" was an entry.
TEST_F(MatrixMarket, ByteOrderMarkWithoutSuffix) {
  const std::string text = "\xef\xbb\xbf%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5\n3 1 4\n";
  EXPECT_EQ(words(read_entries(make("saved-by-an-editor", text))), "1,2=5 3,1=4");
  const Matrix matrix = read_matrix(make("array", "\xef\xbb\xbf%%MatrixMarket matrix array real general\n1 2\n5\n6\n"));
  EXPECT_EQ(matrix.value, (std::vector<Real>{5, 6}));
}

}  // namespace
}  // namespace tracenorm::io
