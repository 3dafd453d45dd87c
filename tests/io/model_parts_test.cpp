#include "helpers.hpp"
#include "io/model_file.hpp"
#include "io/row_directory.hpp"
#include "support/thread_ranks.hpp"

namespace tracenorm::io {
namespace {

/// With everything that a row has, and a column.
Model full_model(Index rows, double factor = 1) {
  constexpr Index cols = 3;
  Model model;
  Eigen::MatrixXd left(rows, 2);
  for (Index i = 0; i < rows; ++i) left.row(i) << factor * i, 1.0 / (1 + i);
  Eigen::MatrixXd right(cols, 2);
  right << 0.5, -1, 0.25, 1e-300, 3, 4;
  model.factors = {left, Eigen::Vector2d(10, 0.1), right};
  for (Index i = 0; i < rows; ++i) model.rows.names.push_back(fmt::format("row \xc3\xa9 {}", i));
  model.cols.base = 1;
  model.preparation = {Preparation::Kind::both,
                       3.5,
                       1.25,
                       std::vector<double>(left.col(1).begin(), left.col(1).end()),
                       {1, 2, 3},
                       {1, 5}};
  model.metadata = R"({"method": "fwua"})";
  model.row_price = {2, 3, 0.5, 0.75};
  model.spread = Spread{std::vector<double>(model.preparation.row_offset), {4, 5, 6}, 7, {0.5, 1, 2}};
  model.predict_by({{9, 0.05}, std::vector<double>(left.col(0).begin(), left.col(0).end()), {3, 2, 1}});
  return model;
}

void expect_same(const Model& a, const Model& b) {
  EXPECT_EQ(a.factors.left(), b.factors.left());
  EXPECT_EQ(a.factors.values(), b.factors.values());
  EXPECT_EQ(a.factors.right(), b.factors.right());
  EXPECT_EQ(a.rows.names, b.rows.names);
  EXPECT_EQ(a.rows.base, b.rows.base);
  EXPECT_EQ(a.cols.base, b.cols.base);
  EXPECT_EQ(a.preparation.row_offset, b.preparation.row_offset);
  EXPECT_EQ(a.preparation.col_offset, b.preparation.col_offset);
  EXPECT_EQ(a.preparation.range.upper, b.preparation.range.upper);
  EXPECT_EQ(a.metadata, b.metadata);
  EXPECT_EQ(a.row_price.power, b.row_price.power);
  EXPECT_EQ(a.certified.has_value(), b.certified.has_value());
  if (a.certified && b.certified) {
    EXPECT_EQ(a.certified->values, b.certified->values);
    EXPECT_EQ(a.certified->row_offset, b.certified->row_offset);
    EXPECT_EQ(a.certified->col_offset, b.certified->col_offset);
  }
  EXPECT_EQ(a.spread.has_value(), b.spread.has_value());
  if (a.spread && b.spread) {
    EXPECT_EQ(a.spread->row, b.spread->row);
    EXPECT_EQ(a.spread->col, b.spread->col);
    EXPECT_EQ(a.spread->scores, b.spread->scores);
  }
}

class ModelParts : public FolderTest {
 protected:
  /// Name and bytes of every file.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> all(const std::string& folder) const {
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& file : std::filesystem::directory_iterator(path(folder)))
      files.emplace_back(file.path().filename().string(), content(folder + "/" + file.path().filename().string()));
    std::sort(files.begin(), files.end());
    return files;
  }
  [[nodiscard]] std::string part(const std::string& folder, const std::string& begins) const {
    for (const auto& [name, bytes] : all(folder))
      if (name.starts_with(begins)) return fmt::format("{}/{}", folder, name);
    ADD_FAILURE() << "no " << begins;
    return "";
  }
};

TEST_F(ModelParts, AreReadAsOne) {
  for (const int parts : {1, 2, 3, 7, 100}) {
    const Model model = full_model(7);
    write_model_parts(path("m"), model, parts);
    EXPECT_EQ(all("m").size(), 2U + static_cast<std::size_t>(std::min(parts, 7))) << "older parts are gone";
    expect_same(read_model(path("m")), model);
  }
  const Model plain{LowRankMatrix(4, 2), {}, {}, {}};
  write_model_parts(path("plain"), plain, 3);
  EXPECT_EQ(read_model(path("plain")).factors.rows(), 4);
}

TEST_F(ModelParts, AreTheSameFilesFromAnyNumberOfRanks) {
  const Model model = full_model(50);
  write_model_parts(path("alone"), model, 5);
  for (const int ranks : {2, 3, 7}) {
    const std::string folder = fmt::format("on{}", ranks);
    test::ThreadRanks::run(ranks, [&](Ranks& mine) { write_model_parts(path(folder), model, 5, &mine); });
    EXPECT_EQ(all(folder), all("alone"));
  }
}

TEST_F(ModelParts, OfAnotherModelOrDamagedAreFound) {
  write_model_parts(path("m"), full_model(9), 3);
  write_model_parts(path("other"), full_model(9, 2), 3);
  const std::string mine = part("m", "rows-3-");
  const std::string bytes = content(mine);
  make(mine, content(part("other", "rows-3-")));
  expect_says(error_of([&] { read_model(path("m")); }), {mine, "is not the file that the manifest beside it means"});
  make(mine, bytes.substr(0, bytes.size() - 1));
  expect_says(error_of([&] { read_model(path("m")); }), {mine, "is not the file"});
  std::filesystem::remove(path(mine));
  expect_says(error_of([&] { read_model(path("m")); }), {mine, "No such file"});
  make(mine, bytes);
  expect_same(read_model(path("m")), full_model(9));

  const std::string manifest = content("m/manifest.json");
  const auto says = [&](const std::string& what, const std::string& instead) {
    std::string changed = manifest;
    changed.replace(changed.find(what), what.size(), instead);
    make("m/manifest.json", changed);
    return error_of([&] { read_model(path("m")); });
  };
  expect_says(says("\"rows\": 9", "\"rows\": 10"), {"the parts have 9 rows of 10"});
  expect_says(says("\"rows\": 9", "\"rows\": 8"), {"does not fit its manifest"});
  expect_says(says("\"first\": 3", "\"first\": 4"), {"does not fit its manifest"});
  expect_says(says("\"parts\"", "\"pieces\""), {"is damaged"});
  expect_says(says("\"file\": \"rows-0", "\"file\": \"../rows-0"), {"is no file of it"});
  expect_says(says("\"schema\": 1", "\"schema\": 2"), {"another version"});
  expect_says(says("{", ""), {"is no manifest"});
  std::filesystem::create_directory(path("empty"));
  expect_says(error_of([&] { read_model(path("empty")); }), {"is a folder without manifest.json"});
}

TEST_F(ModelParts, OneRankThatCannotWriteIsToldByAll) {
  make("taken", "a file");
  std::atomic<int> told = 0;
  test::ThreadRanks::run(3, [&](Ranks& mine) {
    expect_says(error_of([&] { write_model_parts(path("taken"), full_model(5), 3, &mine); }), {"cannot write"});
    ++told;
  });
  EXPECT_EQ(told, 3);
}

TEST_F(ModelParts, OldOnesStayUntilTheNewAreWhole) {
  write_model_parts(path("m"), full_model(6), 2);
  const auto before = all("m");
  Model broken = full_model(6, 3);
  broken.spread->row[5] = 1;  // another part than before,
  broken.rows.names.pop_back();
  EXPECT_ANY_THROW(write_model_parts(path("m"), broken, 2));
  for (const auto& file : before) EXPECT_EQ(content("m/" + file.first), file.second) << file.first;
  expect_same(read_model(path("m")), full_model(6));
}

/// The rows of one rank.
Model some_of(const Model& model, const RowBlocks& blocks) {
  const LowRankMatrix& x = model.factors;
  Model some = model;
  Eigen::MatrixXd left(blocks.count(), x.terms());
  some.rows.names.clear();
  some.preparation.row_offset.clear();
  some.certified->row_offset.clear();
  some.spread->row.clear();
  for (Index k = 0; k < blocks.count(); ++k) {
    const Index row = blocks.whole(k);
    const auto at = static_cast<std::size_t>(row);
    left.row(k) = x.left().row(row);
    if (!model.rows.names.empty()) some.rows.names.push_back(model.rows.names[at]);
    some.preparation.row_offset.push_back(model.preparation.row_offset[at]);
    some.certified->row_offset.push_back(model.certified->row_offset[at]);
    some.spread->row.push_back(model.spread->row[at]);
  }
  some.factors = {left, x.values(), x.right()};
  return some;
}

TEST_F(ModelParts, AreReadByTheRanksThatHaveTheirRows) {
  Model model = full_model(11);
  for (const char* names : {"short", "long", "none"}) {  // those that are very long have arrays of their own
    if (names == std::string("long")) model.rows.names[3] += std::string(std::size_t{1} << 21U, 'g');
    if (names == std::string("none")) model.rows = {{}, 1};
    write_model(path("m.npz"), model);
    write_model_parts(path("m"), model, 3);
    for (const Index block : {0, 1, 2, 50}) {
      test::ThreadRanks::run(4, [&](Ranks& ranks) {
        for (const char* file : {"m.npz", "m"}) {
          RowBlocks blocks{.rank = ranks.rank(), .ranks = ranks.size(), .block = block};
          const Model mine = read_model(path(file), blocks);
          EXPECT_EQ(blocks.rows, 11);
          expect_same(mine, some_of(model, blocks));
          const RowDirectory rows(mine.rows, blocks, &ranks);
          const Index asked = 3 * ranks.rank();
          const std::vector<std::string> wanted{model.rows.name(asked), "nobody", model.rows.name(0)};
          EXPECT_EQ(rows.find(wanted, Execution(1)), (std::vector<Index>{asked, Preparation::kUnknown, 0}));
        }
      });
    }
  }
}

TEST(RowDirectory, TakesNamesInRounds) {
  constexpr Index rows = 200000;  // of three ranks, one of which has all but a few: more than travel at once
  const auto name = [](Index row) { return fmt::format("row {}", row % 190000); };  // some twice: the first one counts
  test::ThreadRanks::run(3, [&](Ranks& ranks) {
    RowBlocks blocks{.rank = ranks.rank(), .ranks = 3, .block = 199990};
    blocks.settle(rows);
    Labels mine;
    for (Index k = 0; k < blocks.count(); ++k) mine.names.push_back(name(blocks.whole(k)));
    EXPECT_EQ(mine.names.size(), ranks.rank() == 0 ? 199990U : ranks.rank() == 1 ? 10U : 0U);
    const RowDirectory directory(std::move(mine), blocks, &ranks);
    const std::vector<std::string> wanted{"row 0", "row 65535", "row 65536", "row 131072", "row 189999", "row 190000"};
    EXPECT_EQ(directory.find(wanted, Execution(1)),
              (std::vector<Index>{0, 65535, 65536, 131072, 189999, Preparation::kUnknown}));
  });
}

TEST_F(ModelParts, OfOtherRanksAreNotOpened) {
  write_model_parts(path("m"), full_model(9), 3);
  std::filesystem::remove(path(part("m", "rows-6")));
  RowBlocks blocks{.rank = 0, .ranks = 3};
  EXPECT_EQ(read_model(path("m"), blocks).factors.rows(), 3);
  blocks.rank = 2;
  expect_says(error_of([&] { read_model(path("m"), blocks); }), {"cannot read", "rows-6"});
}

}  // namespace
}  // namespace tracenorm::io
