#include <sys/resource.h>

#include <cmath>
#include <cstdlib>

#include "helpers.hpp"
#include "io/model_file.hpp"

namespace tracenorm::io {
namespace {

Model small_model() {
  Model model;
  Eigen::MatrixXd left(3, 2);
  left << 1, 2, 3, 4, 5, 6;
  Eigen::MatrixXd right(2, 2);
  right << 0.5, -1, 0.25, 1e-300;
  Eigen::VectorXd values(2);
  values << 10, 0.1;
  model.factors = LowRankMatrix(left, values, right);
  model.rows.names = {"alice",
                      "b\xc3\xb6"
                      "b",
                      "\xe6\x98\xa0\xe7\x94\xbb \xf0\x9f\x8e\xac"};
  model.cols.base = 1;
  model.preparation.kind = Preparation::Kind::zscore;
  model.preparation.offset = 3.5;
  model.preparation.scale = 1.25;
  model.metadata = R"({"method": "fwua", "title": "été"})";
  return model;
}

class ModelFile : public FolderTest {
 protected:
  using Members = std::vector<std::pair<std::string, std::string>>;

  /// A valid model file as members that a test can damage.
  [[nodiscard]] Members members() const {
    write_model(path("whole.npz"), small_model());
    ArchiveReader archive(open_source(path("whole.npz")));
    Members all;
    while (archive.next()) {
      std::string bytes(1 << 16, '\0');
      bytes.resize(archive.content().read(bytes.data(), bytes.size()));
      all.emplace_back(archive.member(), bytes);
    }
    return all;
  }
  [[nodiscard]] std::string fails_with(const std::string& name, const std::string& bytes) const {
    Members all = members();
    for (auto& member : all)
      if (member.first == name) member.second = bytes;
    const std::string file = make("model.npz", zipped(all));
    return error_of([&] { read_model(file); });
  }
};

TEST_F(ModelFile, RoundTrip) {
  const Model model = small_model();
  write_model(path("m.npz"), model);
  const Model again = read_model(path("m.npz"));
  EXPECT_EQ(again.factors.left(), model.factors.left());
  EXPECT_EQ(again.factors.values(), model.factors.values());
  EXPECT_EQ(again.factors.right(), model.factors.right());
  EXPECT_EQ(again.rows.names, model.rows.names);
  EXPECT_EQ(again.rows.base, 0);
  EXPECT_TRUE(again.cols.names.empty());
  EXPECT_EQ(again.cols.base, 1);
  EXPECT_EQ(again.preparation.kind, Preparation::Kind::zscore);
  EXPECT_EQ(again.preparation.offset, 3.5);
  EXPECT_EQ(again.preparation.scale, 1.25);
  EXPECT_EQ(again.metadata, model.metadata);
  EXPECT_EQ(again.predict(2, 1), model.predict(2, 1));
  EXPECT_EQ(files(), 1U);
}

/// Both readings of an answer, and how far predictions are off.
TEST_F(ModelFile, WhatPredictsAndWhatIsCertified) {
  Model model = small_model();
  model.preparation.kind = Preparation::Kind::both;
  model.preparation.row_offset = {0.5, -1, 2};
  model.preparation.col_offset = {0.25, 3};
  model.certified = Reading{{7, 0.0625}, {1, 2, 3}, {4, 5}};
  model.spread = Spread{{1, 2, 3}, {0.5, 1}, 4, {0.1, 0.7, 2.5}};
  write_model(path("m.npz"), model);
  const Model again = read_model(path("m.npz"));
  EXPECT_EQ(again.factors.values(), model.factors.values());
  EXPECT_EQ(again.preparation.row_offset, model.preparation.row_offset);
  EXPECT_EQ(again.predict(2, 1), model.predict(2, 1));
  ASSERT_TRUE(again.certified);
  EXPECT_EQ(again.certified->values, model.certified->values);
  EXPECT_EQ(again.answer().preparation.col_offset, model.certified->col_offset);
  EXPECT_EQ(again.answer().factors.values()[0], 7);
  ASSERT_TRUE(again.spread);
  EXPECT_EQ(again.interval(0.9, 1.5, 1, 1), model.interval(0.9, 1.5, 1, 1));
}

TEST_F(ModelFile, SameModelSameBytes) {
  write_model(path("a.npz"), small_model());
  write_model(path("b.npz"), small_model());
  EXPECT_EQ(content("a.npz"), content("b.npz"));
}

TEST_F(ModelFile, ZeroMatrix) {
  Model model;
  model.factors = LowRankMatrix(4, 3);
  write_model(path("m.npz"), model);
  const Model again = read_model(path("m.npz"));
  EXPECT_EQ(again.factors.rows(), 4);
  EXPECT_EQ(again.factors.cols(), 3);
  EXPECT_EQ(again.factors.terms(), 0);
}

TEST_F(ModelFile, OneVeryLongName) {
  Model model;
  model.factors = LowRankMatrix(500, 1);
  for (int k = 0; k < 500; ++k) model.rows.names.push_back(fmt::format("row {}", k));
  model.rows.names[7] = std::string(100000, 'x') + "\xc3\xa9";
  write_model(path("m.npz"), model);
  EXPECT_LT(content("m.npz").size(), 100000U);
  EXPECT_EQ(read_model(path("m.npz")).rows.names, model.rows.names);
}

TEST_F(ModelFile, WritingFails) {
  expect_says(error_of([&] { write_model(path("none/m.npz"), small_model()); }), {"none/m.npz", "does not exist"});
  Model model = small_model();
  model.rows.names.pop_back();
  expect_says(error_of([&] { write_model(path("m.npz"), model); }), {"3 rows", "2 row names"});
  model = small_model();
  model.rows.names[0] = "\xff";
  expect_says(error_of([&] { write_model(path("m.npz"), model); }), {"\\xff", "UTF-8"});
  EXPECT_EQ(files(), 0U);
}

TEST_F(ModelFile, AnotherSchema) {
  expect_says(fails_with("schema.npy", npy<std::int64_t>("<i8", {}, {7})),
              {"model.npz", "made by another version: schema 7, this program reads 1"});
}

TEST_F(ModelFile, InconsistentShapes) {
  expect_says(fails_with("left.npy", npy<double>("<f8", {2, 3}, {1, 2, 3, 4, 5, 6})),
              {"model.npz", "do not fit together", "'left' has 3 columns for 2 values"});
  expect_says(fails_with("right.npy", npy<double>("<f8", {4}, {1, 2, 3, 4})), {"right.npy", "(4,)", "2 dimension"});
  expect_says(fails_with("row_names.npy", npy<char32_t>("<U1", {2}, {U'a', U'b'})),
              {"'row_names' holds 2 names for 3"});
  expect_says(fails_with("row_base.npy", npy<std::int64_t>("<i8", {}, {5})), {"'row_base' is 5"});
}

TEST_F(ModelFile, BadValues) {
  expect_says(fails_with("values.npy", npy<double>("<f8", {2}, {1, NAN})),
              {"values.npy", "element 1 is nan", "finite"});
  expect_says(fails_with("offset.npy", npy<double>("<f8", {}, {INFINITY})), {"offset.npy", "inf"});
  expect_says(fails_with("scale.npy", npy<double>("<f8", {}, {0})), {"'scale' is 0"});
  expect_says(fails_with("preparation.npy", npy<char32_t>("<U3", {}, {U'l', U'o', U'g'})),
              {"preparation 'log' is unknown"});
  expect_says(fails_with("metadata.npy", npy<char32_t>("<U1", {}, {U'{'})), {"'metadata' is not JSON", "'{'"});
}

TEST_F(ModelFile, NotAModel) {
  const std::string other = make("data.npz", zipped({{"format.npy", "x"}}));
  expect_says(error_of([&] { read_model(other); }), {"data.npz", "no array 'schema'", "not a model", "format.npy"});
  const std::string text = make("text.npz", "hello");
  expect_says(error_of([&] { read_model(text); }), {"text.npz", "is not a model of this program", "no .npz archive"});
  expect_says(error_of([&] { read_model(path("none.npz")); }), {"none.npz", "No such file"});
  write_model(path("m.npz"), small_model());
  const std::string cut = make("cut.npz", content("m.npz").substr(0, 600));
  expect_says(error_of([&] { read_model(cut); }), {"cut.npz", "not a valid zip archive"});
  expect_says(table_error(path("m.npz")), {"m.npz", "no array 'format'"});
}

// NumPy itself is the judge of what it can open and of what it writes.
class WithNumpy : public ModelFile {
 protected:
  void run(const std::string& task) const {
    const std::string python = TRACENORM_TEST_PYTHON;
    ASSERT_FALSE(python.empty())
        << "no Python with NumPy was found at configuration: install python3-numpy, configure again";
    const std::string command =
        fmt::format("'{}' '{}' {} '{}'", python, TRACENORM_NUMPY_SCRIPT, task, folder_.string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
};

TEST_F(WithNumpy, OpensOurFiles) {
  write_model(path("model.npz"), small_model());
  Model model = small_model();
  model.factors = LowRankMatrix(4, 3);
  model.rows.names.clear();
  write_model(path("zero.npz"), model);
  const std::vector<Real> rows = {1, 2, 3, 4, 5, 6};
  write_npy(path("rows.npy"), 2, 3, rows.data());
  const std::vector<double> columns = {1, 4, 2, 5, 3, 6};
  write_npy_columns(path("columns.npy"), 2, 3, columns.data());
  run("check");
}

TEST_F(WithNumpy, WritesWhatWeRead) {
  run("write");
  for (const char* type : {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "be_f8"}) {
    for (const char* order : {"c", "f"}) {
      const std::string name = fmt::format("{}_{}.npy", type, order);
      EXPECT_EQ(read_matrix(path(name)).value, (std::vector<Real>{1, 2, 3, 4, 5, 6})) << name;
    }
  }
  EXPECT_EQ(read_matrix(path("bool.npy")).value, (std::vector<Real>{1, 0, 0, 1}));
  EXPECT_EQ(read_matrix(path("v2.npy")).value, (std::vector<Real>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read_matrix(path("v3.npy")).value, (std::vector<Real>{1, 2, 3, 4, 5, 6}));
  for (const char* name : {"csr.npz", "csr_compressed.npz", "csr_int64.npz"})
    EXPECT_EQ(words(read_entries(path(name))), "0,0=0 0,1=7 1,2=8 2,1=9") << name;
  EXPECT_EQ(words(read_entries(path("csc.npz"))), "0,0=0 0,1=7 2,1=9 1,2=8");
  EXPECT_EQ(words(read_entries(path("coo.npz"))), "2,1=9 0,0=0 1,2=8 0,1=7");
  expect_says(table_error(path("object.npy")), {"object.npy", "'|O'"});
  expect_says(table_error(path("complex.npy")), {"complex.npy", "'<c16'"});
}

TEST_F(ModelFile, NamesThatClaimRoomTakeNone) {
  // No names, each of a gigabyte.
  const std::string header = npy_header("<U250000000", false, {0});
  Members all = members();
  for (auto& member : all)
    if (member.first == "row_names.npy") member.second = header;
  const std::string file = make("model.npz", zipped(all));
  const auto most_memory = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // in kilobytes
  };
  const long before = most_memory();
  const Model model = read_model(file);
  EXPECT_LT(most_memory() - before, 200'000);
  EXPECT_TRUE(model.rows.names.empty());
}

TEST_F(ModelFile, RowsThatClaimRoomTakeNone) {
  // Two rows of eight terabytes each, for a rank that has one of them.
  Members all = members();
  for (auto& member : all)
    if (member.first == "left.npy") member.second = npy<double>("<f8", {2, 1'000'000'000'000}, {1, 2, 3});
  const std::string file = make("model.npz", zipped(all));
  RowBlocks blocks{.rank = 0, .ranks = 2};
  expect_says(error_of([&] { read_model(file, blocks); }), {"model.npz", "left", "2000000000000", "truncated"});
}

TEST_F(ModelFile, NamesWithoutAShapeAreRefusedByRanksToo) {
  Members all = members();
  for (auto& member : all)
    if (member.first == "row_names.npy") member.second = npy<std::uint32_t>("<U1", {}, {0x110000});
  const std::string file = make("model.npz", zipped(all));
  for (const RowBlocks& blocks : {RowBlocks{}, RowBlocks{.rank = 0, .ranks = 2}, RowBlocks{.rank = 1, .ranks = 2}}) {
    RowBlocks own = blocks;
    expect_says(error_of([&] { read_model(file, own); }), {"model.npz", "row_names", "element 0 is not text"});
  }
}

}  // namespace
}  // namespace tracenorm::io
