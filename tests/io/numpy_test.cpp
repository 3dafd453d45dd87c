#include <cmath>
#include <limits>

#include "helpers.hpp"

namespace tracenorm::io {
namespace {

class Numpy : public FolderTest {
 protected:
  [[nodiscard]] std::string fails(const std::string& bytes) const {
    const std::string file = make("a.npy", bytes);
    return error_of([&] { read_matrix(file); });
  }
  template <class Number>
  void expect_reads(std::string_view type) const {
    const Matrix matrix = read_matrix(make("a.npy", npy<Number>(type, {2, 3}, {0, 1, 0, 1, 1, 0})));
    EXPECT_EQ(matrix.value, (std::vector<Real>{0, 1, 0, 1, 1, 0})) << type;
  }
};

const std::vector<double> six = {1, 2, 3, 4, 5, 6};

TEST_F(Numpy, EveryNumberType) {
  expect_reads<float>("<f4");
  expect_reads<double>("<f8");
  expect_reads<std::int8_t>("|i1");
  expect_reads<std::int16_t>("<i2");
  expect_reads<std::int32_t>("<i4");
  expect_reads<std::int64_t>("<i8");
  expect_reads<std::uint8_t>("|u1");
  expect_reads<std::uint16_t>("<u2");
  expect_reads<std::uint32_t>("<u4");
  expect_reads<std::uint64_t>("<u8");
  expect_reads<std::uint8_t>("|b1");
}

TEST_F(Numpy, BigEndian) {
  const Matrix matrix = read_matrix(make("a.npy", npy<std::uint16_t>(">i2", {1, 2}, {0x0100, 0x0201})));
  EXPECT_EQ(matrix.value, (std::vector<Real>{1, 0x0102}));
}

TEST_F(Numpy, BothOrders) {
  EXPECT_EQ(read_matrix(make("c.npy", npy("<f8", {2, 3}, six))).value, (std::vector<Real>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read_matrix(make("f.npy", npy("<f8", {2, 3}, six, true))).value, (std::vector<Real>{1, 3, 5, 2, 4, 6}));
}

TEST_F(Numpy, LaterHeaderVersions) {
  std::string bytes = npy("<f8", {2, 3}, six);
  for (const char version : {2, 3}) {
    std::string later = bytes;
    later[6] = version;
    later.insert(10, 2, '\0');
    EXPECT_EQ(read_matrix(make("a.npy", later)).value.size(), 6U);
  }
  bytes[6] = 4;
  expect_says(fails(bytes), {"version 4"});
}

TEST_F(Numpy, NanIsMissing) {
  const std::string file = make("a.npy", npy<float>("<f4", {2, 2}, {1, NAN, NAN, 0}));
  EXPECT_TRUE(std::isnan(read_matrix(file).value[1]));
  const NamedEntries table = read_entries(file);
  EXPECT_EQ(words(table), "0,0=1 1,1=0");
  EXPECT_TRUE(table.row_labels.names.empty());
  EXPECT_EQ(table.row_labels.base, 0);
  expect_says(table_error(make("b.npy", npy<float>("<f4", {1, 2}, {NAN, NAN}))), {"b.npy", "all are missing"});
}

TEST_F(Numpy, InfinityIsAnError) {
  expect_says(fails(npy<float>("<f4", {2, 2}, {1, 2, 3, INFINITY})), {"a.npy", "row 1, column 1", "infinite"});
}

TEST_F(Numpy, CompressedAndFoundByContent) {
  const std::string bytes = npy("<f8", {2, 3}, six);
  EXPECT_EQ(read_matrix(make("a.npy.gz", gzipped(bytes))).value.size(), 6U);
  EXPECT_EQ(read_matrix(make("array", bytes)).value.size(), 6U);
}

TEST_F(Numpy, Truncated) {
  const std::string bytes = npy("<f8", {2, 3}, six);
  expect_says(fails(bytes.substr(0, bytes.size() - 1)), {"a.npy", "ends early", "6 elements of 8 bytes", "truncated"});
  expect_says(fails(bytes.substr(0, 40)), {"a.npy", "within the .npy header"});
  expect_says(fails(bytes.substr(0, 7)), {"a.npy", "within the .npy header"});
  expect_says(fails(""), {"a.npy", "empty"});
  const std::string cut = make("cut.npy.gz", gzipped(bytes.substr(0, bytes.size() - 8)));
  expect_says(error_of([&] { read_matrix(cut); }), {"cut.npy.gz", "ends early"});
}

TEST_F(Numpy, WrongType) {
  for (const char* type : {"|O", "<c16", "<M8[ns]", "<f2x"})
    expect_says(fails(npy(type, {2, 3}, six)), {"a.npy", "data type", type, "float64"});
  expect_says(fails(npy("<f2", {2, 3}, six)), {"a.npy", "f2", "float64"});
  expect_says(fails(npy("<U3", {2, 1}, std::vector<char>(24, 0))), {"a.npy", "not read as numbers"});
  std::string structured = npy("<f8", {2, 3}, six);
  structured.replace(structured.find("'<f8'"), 5, "[('a'");
  expect_says(fails(structured), {"a.npy", "structured"});
}

TEST_F(Numpy, WrongDimension) {
  expect_says(fails(npy("<f8", {6}, six)), {"a.npy", "1 dimension,", "(6,)", "two"});
  expect_says(fails(npy("<f8", {1, 2, 3}, six)), {"3 dimensions", "(1, 2, 3)"});
  expect_says(fails(npy<double>("<f8", {0, 3}, {})), {"0 x 3", "no entries"});
  expect_says(fails(npy("<f8", {900000000000, 900000000000}, six)), {"impossible shape"});
  expect_says(fails(npy<double>("<f8", {3000000000, 0}, {})), {"3000000000 rows", "2147483647"});
}

// Any number of them would fit the file.
TEST_F(Numpy, ElementsOfNoBytes) {
  for (const char* type : {"<b0", "<f0", "<U0", "|S0"}) {
    expect_says(fails(npy<char>(type, {1380887332, 7}, {})), {"a.npy", "9666211324 elements of no bytes", "damaged"});
  }
  expect_says(fails(npy<char>("<b0", {900000000000, 900000000000}, {})), {"impossible shape"});
}

TEST_F(Numpy, NotNumpy) { expect_says(fails("1 2 3\n"), {"a.npy", "is not a .npy array", "'1 2 3"}); }

TEST_F(Numpy, WritesWhatItReads) {
  const std::vector<Real> rows = {1, 2, 3, 4, 5, 6};
  write_npy(path("r.npy"), 2, 3, rows.data());
  EXPECT_EQ(read_matrix(path("r.npy")).value, rows);
  write_npy_columns(path("c.npy"), 2, 3, six.data());
  EXPECT_EQ(read_matrix(path("c.npy")).value, (std::vector<Real>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(content("r.npy").size() % 64, rows.size() * sizeof(Real)) << "the header is padded";
}

class SparseNpz : public FolderTest {
 protected:
  using Members = std::vector<std::pair<std::string, std::string>>;

  static std::string text_array(const std::string& text) {
    return npy(fmt::format("|S{}", text.size()), {}, std::vector<char>(text.begin(), text.end()));
  }
  template <class Integer>
  static std::string integers(const std::vector<Integer>& numbers) {
    return npy(sizeof(Integer) == 4 ? "<i4" : "<i8", {static_cast<std::int64_t>(numbers.size())}, numbers);
  }
  static std::string reals(const std::vector<double>& numbers) {
    return npy("<f8", {static_cast<std::int64_t>(numbers.size())}, numbers);
  }

  /// [[0, 7, .], [., ., 8], [., 9, .]]: the first entry is a stored zero.
  template <class Integer>
  static Members csr() {
    return {{"indices.npy", integers<Integer>({0, 1, 2, 1})},
            {"indptr.npy", integers<Integer>({0, 2, 3, 4})},
            {"format.npy", text_array("csr")},
            {"shape.npy", integers<std::int64_t>({3, 3})},
            {"data.npy", reals({0, 7, 8, 9})}};
  }
  static void set(Members& members, const std::string& name, const std::string& bytes) {
    for (auto& member : members)
      if (member.first == name) member.second = bytes;
  }
  [[nodiscard]] std::string fails(const Members& members) const { return table_error(make("a.npz", zipped(members))); }
};

TEST_F(SparseNpz, RowsColumnsAndCoordinates) {
  const std::string expected = "0,0=0 0,1=7 1,2=8 2,1=9";
  for (const bool compress : {true, false}) {
    EXPECT_EQ(words(read_entries(make("a.npz", zipped(csr<std::int32_t>(), compress)))), expected);
    EXPECT_EQ(words(read_entries(make("a.npz", zipped(csr<std::int64_t>(), compress)))), expected);
  }
  Members members = csr<std::int32_t>();
  set(members, "format.npy", text_array("csc"));
  EXPECT_EQ(words(read_entries(make("a.npz", zipped(members)))), "0,0=0 1,0=7 2,1=8 1,2=9");
  const Members coo = {{"row.npy", integers<std::int32_t>({2, 0})},
                       {"col.npy", integers<std::int32_t>({1, 3})},
                       {"format.npy", text_array("coo")},
                       {"shape.npy", integers<std::int64_t>({3, 4})},
                       {"data.npy", npy<std::int8_t>("|i1", {2}, {-5, 6})}};
  const NamedEntries table = read_entries(make("a.npz", zipped(coo)));
  EXPECT_EQ(words(table), "2,1=-5 0,3=6");
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(table.cols, 4);
  EXPECT_EQ(table.row_labels.base, 0);
}

TEST_F(SparseNpz, MissingArrays) {
  expect_says(fails({{"x.npy", reals({1})}}), {"a.npz", "no array 'format'", "save_npz", "x.npy"});
  Members members = csr<std::int32_t>();
  members.erase(members.begin());
  expect_says(fails(members), {"a.npz", "no array 'indices'", "indptr.npy"});
}

TEST_F(SparseNpz, OtherFormat) {
  Members members = csr<std::int32_t>();
  set(members, "format.npy", text_array("bsr"));
  expect_says(fails(members), {"a.npz", "'bsr' is not read", "csr, csc or coo"});
}

TEST_F(SparseNpz, InconsistentArrays) {
  Members members = csr<std::int32_t>();
  set(members, "indices.npy", integers<std::int32_t>({0, 1, 3, 1}));
  expect_says(fails(members), {"a.npz:indices.npy", "3 at position 2 is outside of 0 to 2"});
  set(members, "indices.npy", integers<std::int32_t>({0, -1, 2, 1}));
  expect_says(fails(members), {"-1 at position 1"});
  set(members, "indices.npy", integers<std::int32_t>({0, 1, 2}));
  expect_says(fails(members), {"a.npz:indices.npy", "3 indices for 4 values"});
  set(members, "indices.npy", reals({0, 1, 2, 1}));
  expect_says(fails(members), {"a.npz:indices.npy", "whole numbers"});
  for (const auto& begin : {std::vector<std::int32_t>{0, 2, 4}, {0, 3, 2, 4}, {1, 2, 3, 4}, {0, 2, 3, 5}}) {
    members = csr<std::int32_t>();
    set(members, "indptr.npy", integers<std::int32_t>(begin));
    expect_says(fails(members), {"a.npz:indptr.npy", "4 ascending numbers from 0"});
  }
}

TEST_F(SparseNpz, BadShapeAndValues) {
  Members members = csr<std::int32_t>();
  set(members, "shape.npy", integers<std::int64_t>({3000000000, 3}));
  expect_says(fails(members), {"a.npz:shape.npy", "3000000000 x 3", "2147483647"});
  set(members, "shape.npy", integers<std::int64_t>({3}));
  expect_says(fails(members), {"a.npz:shape.npy", "two numbers"});
  members = csr<std::int32_t>();
  set(members, "data.npy", reals({1, 2, NAN, 4}));
  expect_says(fails(members), {"a.npz:data.npy", "position 2", "finite"});
}

TEST_F(SparseNpz, Duplicates) {
  Members members = csr<std::int32_t>();
  set(members, "indices.npy", integers<std::int32_t>({1, 1, 2, 1}));
  expect_says(fails(members), {"a.npz", "stored entry 1", "row '0', column '1'", "stored entry 0"});
}

TEST_F(SparseNpz, DamagedMember) {
  std::string bytes = zipped(csr<std::int32_t>(), false);
  const std::size_t seven = bytes.find(std::string("\0\0\0\0\0\0\x1c\x40", 8));  // still a fine number afterwards
  ASSERT_NE(seven, std::string::npos);
  bytes[seven + 6] = '\x1d';
  expect_says(table_error(make("a.npz", bytes)), {"a.npz:data.npy", "not a valid zip archive", "damaged"});
}

TEST_F(SparseNpz, TruncatedMember) {
  Members members = csr<std::int32_t>();
  set(members, "data.npy", reals({0, 7, 8, 9}).substr(0, 140));
  expect_says(fails(members), {"a.npz:data.npy", "ends early"});
}

}  // namespace
}  // namespace tracenorm::io
