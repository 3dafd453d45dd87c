// Matrix Market, matrices as text and NumPy arrays of many blocks: what is read, and what is wrong with it, must not
// depend on the threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "helpers.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {
namespace {

constexpr int many[] = {1, 2, 3, 5};

/// Numbers with all their bits: NaN is like itself.
std::vector<std::uint32_t> bits(const std::vector<Real>& values) {
  std::vector<std::uint32_t> all;
  all.reserve(values.size());
  for (const Real value : values) all.push_back(std::bit_cast<std::uint32_t>(value));
  return all;
}

class OnThreads : public FolderTest {
 protected:
  static ReadOptions with(int threads, ReadOptions options = {}) {
    options.threads = threads;
    return options;
  }
  /// The same on any number of threads.
  static NamedEntries entries(const std::string& file) {
    NamedEntries one = read_entries(file, with(1));
    for (const int threads : many) {
      const NamedEntries more = read_entries(file, with(threads));
      EXPECT_EQ(more.entries.row, one.entries.row);
      EXPECT_EQ(more.entries.col, one.entries.col);
      EXPECT_EQ(bits(more.entries.value), bits(one.entries.value));
    }
    return one;
  }
  static Matrix matrix(const std::string& file, const ReadOptions& options = {}) {
    Matrix one = read_matrix(file, with(1, options));
    for (const int threads : many) {
      const Matrix more = read_matrix(file, with(threads, options));
      EXPECT_EQ(more.rows, one.rows);
      EXPECT_EQ(more.cols, one.cols);
      EXPECT_EQ(more.row_labels.names, one.row_labels.names);
      EXPECT_EQ(more.col_labels.names, one.col_labels.names);
      EXPECT_EQ(more.columns, one.columns);
      EXPECT_EQ(bits(more.value), bits(one.value));
    }
    return one;
  }
  void entries_say(const std::string& name, const std::string& text,
                   std::initializer_list<std::string_view> parts) const {
    const std::string file = make(name, text);
    const std::string one = table_error(file, with(1));
    expect_says(one, parts);
    for (const int threads : many) EXPECT_EQ(table_error(file, with(threads)), one);
  }
  void matrix_says(const std::string& name, const std::string& text,
                   std::initializer_list<std::string_view> parts) const {
    const std::string file = make(name, text);
    const auto error = [&](int threads) { return error_of([&] { read_matrix(file, with(threads)); }); };
    const std::string one = error(1);
    expect_says(one, parts);
    for (const int threads : many) EXPECT_EQ(error(threads), one);
  }
};

// ---- Matrix Market

struct Place {
  Index row, col;
};
constexpr Index side = 1000;
constexpr std::size_t place_count = 150'000;

/// Each place once, in no order; of a symmetric matrix below the diagonal or on it.
std::vector<Place> places(bool symmetric) {
  std::vector<Place> all;
  for (Index row = 0; row < side; ++row) {
    for (Index col = 0; col < (symmetric ? row + 1 : side); col += symmetric ? 1 : 5) all.push_back({row, col});
  }
  Random random(3);
  for (std::size_t k = all.size() - 1; k > 0; --k) std::swap(all[k], all[random.below(k + 1)]);
  all.resize(place_count);
  return all;
}

/// Comments and empty lines stand among the entries.
std::string market(const std::vector<Place>& all, std::string_view field, std::string_view symmetry,
                   std::string_view end) {
  std::string text = fmt::format("%%MatrixMarket matrix coordinate {} {}{}%c{}{} {} {}{}", field, symmetry, end, end,
                                 side, side, all.size(), end);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k % 1000 == 7) text += fmt::format("% {}{}{}", k, end, end);
    text += fmt::format("{} {}", all[k].row + 1, all[k].col + 1);
    if (field == "integer") text += fmt::format(" {}", k % 9);
    if (field == "real") text += fmt::format("\t-{}.25e-3 ", k);
    text += end;
  }
  return text;
}

TEST_F(OnThreads, CoordinatesOfAllKinds) {
  for (const bool symmetric : {false, true}) {
    const std::vector<Place> all = places(symmetric);
    for (const std::string_view field : {"real", "integer", "pattern"}) {
      std::string text = market(all, field, symmetric ? "symmetric" : "general", field == "real" ? "\r\n" : "\n");
      if (field == "integer") text.pop_back();  // no line end behind the last
      const NamedEntries table = entries(make("data.mtx", text));
      std::size_t stored = 0;
      for (; stored < all.size(); ++stored) {
        ASSERT_EQ(table.entries.row[stored], all[stored].row);
        ASSERT_EQ(table.entries.col[stored], all[stored].col);
        const Real expected = field == "real"      ? Real((-static_cast<double>(stored) - 0.25) * 1e-3)
                              : field == "integer" ? Real(stored % 9)
                                                   : Real(1);
        ASSERT_FLOAT_EQ(table.entries.value[stored], expected);
      }
      if (symmetric) {
        std::size_t at = stored;
        for (std::size_t k = 0; k < stored; ++k) {
          if (all[k].row == all[k].col) continue;
          ASSERT_EQ(table.entries.row[at], all[k].col);
          ASSERT_EQ(table.entries.col[at], all[k].row);
          ASSERT_EQ(table.entries.value[at++], table.entries.value[k]);
        }
        stored = at;
      }
      EXPECT_EQ(table.entries.size(), static_cast<Offset>(stored));
    }
  }
  EXPECT_EQ(bits(entries(make("data.mtx.gz", gzipped(content("data.mtx")))).entries.value),
            bits(entries(path("data.mtx")).entries.value));
}

TEST_F(OnThreads, TheFirstBadLineOfAMatrixMarketFile) {
  const std::string good = market(places(false), "real", "general", "\n");
  const auto first = std::count(good.begin(), good.end(), '\n') + 1;  // line behind those
  const auto line = [&](Offset k) { return fmt::format("line {}:", first + k); };
  // As many entries are promised as there are with those that follow, and one more.
  const auto promise = [&](std::size_t more, const std::string& behind) {
    std::string text = good;
    const std::string old = fmt::format("{} {} {}\n", side, side, place_count);
    return text.replace(text.find(old), old.size(), fmt::format("{} {} {}\n", side, side, place_count + more)) + behind;
  };
  std::string lines;  // many blocks of them, and right
  for (int k = 0; k < 60'000; ++k) lines += "% a comment\n1 2 4\n";
  entries_say("data.mtx", promise(100'000, "1 2 x\n1 2\n" + lines), {line(0), "'x' is not a number"});
  entries_say("data.mtx", promise(100'000, "1 2\n1 2 x\n" + lines), {line(0), "2 fields where 3 are needed"});
  entries_say("data.mtx", promise(100'000, "%\n1 1001 3\n0 1 3\n" + lines), {line(1), "column index 1001 is outside"});
  entries_say("data.mtx", promise(100'000, "a 1 3\n" + lines), {line(0), "'a' is not a row index"});
  entries_say("data.mtx", promise(100'000, std::string("1 2\0 3\n", 7) + lines), {line(0), "zero byte"});
  entries_say("data.mtx", promise(0, "\n% more\n1 2 x\n"), {line(2), "more than the 150000 entries"});
  entries_say("data.mtx", promise(0, lines), {line(1), "more than the 150000 entries"});
  entries_say("data.mtx", promise(3, "1 2 x\n1 2 3\n"), {line(0), "'x' is not a number"});
  entries_say("data.mtx", promise(60'001, lines), {"210001 entries were promised and 210000 are there"});
  entries_say("data.mtx", promise(1'000'000'000'000, lines), {"1000000150000 entries were promised"});
  entries_say("data.mtx", promise(1, "1 1 5\n"), {line(0), "already given at line "});
  entries_say("data.mtx.gz", gzipped(good).substr(0, 300'000), {"ends early: the gzip file is truncated"});
  // The last entry once more, on the other side of the diagonal.
  std::string twice = market(places(true), "pattern", "symmetric", "\n");
  const std::string old = fmt::format("{} {} {}\n", side, side, place_count);
  twice.replace(twice.find(old), old.size(), fmt::format("{} {} {}\n", side, side, place_count + 1));
  const Place last = places(true).back();
  twice += fmt::format("{} {}\n", last.col + 1, last.row + 1);
  entries_say("data.mtx", twice, {"already given at line "});
}

TEST_F(OnThreads, ArraysOfAllKinds) {
  constexpr Index rows = 401;
  constexpr Index cols = 399;
  const auto number = [](Index row, Index col) { return Real(1000 * row + col) / 8; };
  std::string general = fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", rows, cols);
  for (Index col = 0; col < cols; ++col) {
    general += "% a column\n\n";
    for (Index row = 0; row < rows; ++row)
      general += row == col + 1 ? std::string("nan\r\n") : fmt::format(" {} \n", number(row, col));
  }
  general.pop_back();
  const Matrix full = matrix(make("general.mtx", general));
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      const Real value = full.value[static_cast<std::size_t>(row) * cols + static_cast<std::size_t>(col)];
      if (row == col + 1) {
        ASSERT_TRUE(std::isnan(value));
      } else {
        ASSERT_EQ(value, number(row, col));
      }
    }
  }
  EXPECT_EQ(entries(path("general.mtx")).entries.size(), Offset{rows} * cols - std::min(rows - 1, cols));
  std::string half = fmt::format("%%MatrixMarket matrix array integer symmetric\n{} {}\n", rows, rows);
  for (Index col = 0; col < rows; ++col)
    for (Index row = col; row < rows; ++row) half += fmt::format("{}\n", 1000 * row + col);
  const Matrix symmetric = matrix(make("symmetric.mtx", half));
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < rows; ++col)
      ASSERT_EQ(symmetric.value[static_cast<std::size_t>(row) * rows + static_cast<std::size_t>(col)],
                Real(1000 * std::max(row, col) + std::min(row, col)));
  matrix_says("general.mtx", general + "\n7\n", {"more than the 159999 entries"});
  matrix_says("general.mtx", general.substr(0, general.size() - 200), {"ends early: 159999 entries were promised"});
  matrix_says("symmetric.mtx", half.replace(half.rfind("400400"), 6, "40o400"), {"line 80603:", "'40o400'"});
}

// ---- a matrix as text

constexpr Index text_rows = 3000;
constexpr Index text_cols = 150;

Real number_at(Index row, Index col) { return Real(row) + Real(col) / 256; }
bool hole_at(Index row, Index col) { return (row + 3 * col) % 11 == 0; }

/// With names, or without.
std::string table(bool names, char separator, std::string_view end) {
  std::string text = fmt::format("# made up{}{}", end, end);
  if (names) {
    text += "id";
    for (Index col = 0; col < text_cols; ++col) text += fmt::format("{}\"c{}{}\"", separator, separator, col);
    text += end;
  }
  for (Index row = 0; row < text_rows; ++row) {
    if (row % 100 == 99) text += end;
    if (names) text += fmt::format("\"a \"\"row\"\"{}\"", row);
    for (Index col = 0; col < text_cols; ++col) {
      if (col > 0 || names) text += separator;
      text += hole_at(row, col) ? (row % 2 == 0 ? "NA" : "") : fmt::format("{}", number_at(row, col));
    }
    text += end;
  }
  return text;
}

TEST_F(OnThreads, MatricesAsText) {
  for (const bool names : {false, true}) {
    for (const std::string_view end : {"\n", "\r\n"}) {
      std::string text = table(names, names ? ',' : ';', end);
      if (end == "\n") text.pop_back();
      const Matrix read = matrix(make("table.csv", text));
      ASSERT_EQ(read.rows, text_rows);
      ASSERT_EQ(read.cols, text_cols);
      for (Index row = 0; row < text_rows; ++row) {
        for (Index col = 0; col < text_cols; ++col) {
          const Real value = read.value[static_cast<std::size_t>(row) * text_cols + static_cast<std::size_t>(col)];
          if (hole_at(row, col)) {
            ASSERT_TRUE(std::isnan(value));
          } else {
            ASSERT_EQ(value, number_at(row, col));
          }
        }
      }
      ASSERT_EQ(read.row_labels.names.size(), names ? std::size_t{text_rows} : 0);
      if (!names) continue;
      EXPECT_EQ(read.row_labels.names[2999], "a \"row\"2999");
      EXPECT_EQ(read.col_labels.names[7], "c,7");
    }
  }
  ReadOptions options;
  options.missing = {"7.5", "x"};
  options.skip_columns = {"3"};
  const Matrix less = matrix(path("table.csv"), options);
  EXPECT_EQ(less.cols, text_cols - 1);
  options.format = Format::matrix_text;
  options.threads = 3;
  EXPECT_EQ(read_entries(path("table.csv"), options).entries.size(),
            std::count_if(less.value.begin(), less.value.end(), [](Real value) { return !std::isnan(value); }));
}

TEST_F(OnThreads, TheFirstBadLineOfAMatrixAsText) {
  const std::string good = table(true, ',', "\n");
  const auto first = std::count(good.begin(), good.end(), '\n') + 1;
  const auto line = [&](Offset k) { return fmt::format("line {}", first + k); };
  const auto row = [](std::string_view name, std::string_view value) {
    std::string text(name);
    for (Index col = 0; col < text_cols; ++col) text += fmt::format(",{}", col == 2 ? value : "1");
    return text + "\n";
  };
  std::string lines;  // many blocks of them, and right
  for (int k = 0; k < 4000; ++k) lines += row(fmt::format("more {}", k), "1");
  matrix_says("t.csv", good + lines + row("n", "x"), {line(4000), "column 'c,2': 'x' is not a number"});
  matrix_says("t.csv", good + row("n", "1e99") + row("n", "x") + lines, {line(0), "column 'c,2': '1e99' is too large"});
  matrix_says("t.csv", good + "\n" + row("more 7", "1") + lines, {line(9), "the row name 'more 7' is given twice"});
  matrix_says("t.csv", good + row("more 7", "1") + row("more 7", "x") + lines, {line(1), "is given twice"});
  matrix_says("t.csv", good + row("\xff", "x") + lines, {line(0), "is not UTF-8"});
  matrix_says("t.csv", good + "short,1\n" + lines, {line(0), "2 fields where the first row has 151"});
  matrix_says("t.csv", good + "# no comment here\n" + lines, {line(0), "1 field where"});
  matrix_says("t.csv", good + row("\"n", "1") + lines, {line(0), "a quote is not closed"});
  matrix_says("t.csv", good + row("n", std::string_view("1\0", 2)) + lines, {line(0), "zero byte"});
}

// ---- NumPy arrays

TEST_F(OnThreads, NumPyArraysOfAllKinds) {
  constexpr std::int64_t rows = 331;
  constexpr std::int64_t cols = 290;
  const auto check = [&](const std::string& bytes, bool fortran_order) {
    const Matrix read = matrix(make("a.npy", bytes));
    for (std::int64_t k = 0; k < rows * cols; ++k) {
      const std::int64_t stored = fortran_order ? k % cols * rows + k / cols : k;
      ASSERT_EQ(read.value[static_cast<std::size_t>(k)], Real(stored % 100));
    }
    const NamedEntries all = entries(path("a.npy"));
    ASSERT_EQ(all.entries.size(), rows * cols);
    EXPECT_EQ(all.entries.row[1000], 1000 / cols);
    EXPECT_EQ(all.entries.col[1000], 1000 % cols);
  };
  const auto numbers = [&](auto zero, bool swapped) {
    std::vector<decltype(zero)> all;
    for (std::int64_t k = 0; k < rows * cols; ++k) {
      auto number = static_cast<decltype(zero)>(k % 100);
      char* const bytes = reinterpret_cast<char*>(&number);
      if (swapped) std::reverse(bytes, bytes + sizeof(number));
      all.push_back(number);
    }
    return all;
  };
  for (const bool fortran_order : {false, true}) {
    check(npy("<f4", {rows, cols}, numbers(float{}, false), fortran_order), fortran_order);
    check(npy(">f8", {rows, cols}, numbers(double{}, true), fortran_order), fortran_order);
    check(npy("<i2", {rows, cols}, numbers(std::int16_t{}, false), fortran_order), fortran_order);
    check(npy(">u8", {rows, cols}, numbers(std::uint64_t{}, true), fortran_order), fortran_order);
  }
  for (const bool fortran_order : {false, true}) {
    std::vector<double> bad = numbers(double{}, false);
    bad[50'000] = std::numeric_limits<double>::quiet_NaN();
    bad[60'001] = fortran_order ? 1e39 : -std::numeric_limits<double>::infinity();
    bad[60'002] = std::numeric_limits<double>::infinity();
    bad[90'000] = 1e39;
    const std::string place = fortran_order ? fmt::format("row {}, column {}", 60'001 % rows, 60'001 / rows)
                                            : fmt::format("row {}, column {}", 60'001 / cols, 60'001 % cols);
    matrix_says("b.npy", npy("<f8", {rows, cols}, bad, fortran_order),
                {place, fortran_order ? "is too large, 1e+39" : "is infinite"});
  }
  std::vector<float> one(rows * cols, std::numeric_limits<float>::quiet_NaN());
  one[70'000] = 3;
  EXPECT_EQ(words(entries(make("c.npy", npy("<f4", {rows, cols}, one)))), "241,110=3");
  one[70'000] = one[0];
  entries_say("c.npy", npy("<f4", {rows, cols}, one), {"all are missing"});
}

// ---- edges

/// Some twice, in both directions; a comment and an empty line every thousand lines.
std::string edge_list(bool words) {
  std::string text = "# nodes\nsource,target\n";
  Random random(11);
  for (int k = 0; k < 150'000; ++k) {
    if (k % 1000 == 500) text += "% more\n\n";
    const std::uint64_t a = random.below(static_cast<std::uint64_t>(k) / 20 + 7);
    const std::uint64_t b = random.below(3000);
    text += words && a % 3 == 0 ? fmt::format("node {},{}\r\n", a, b) : fmt::format("{}, {},1\n", a, b);
  }
  return text;
}

TEST_F(OnThreads, EdgesOfAllKinds) {
  for (const bool words : {false, true}) {
    const std::string text = edge_list(words);
    const std::string file = make("edges.csv", text.substr(0, text.size() - 1));
    for (const GraphKind kind : {GraphKind::undirected, GraphKind::directed, GraphKind::bipartite}) {
      const Graph one = read_graph(file, with(1), kind);
      EXPECT_GT(one.nodes, 7000);
      EXPECT_TRUE(std::is_sorted(one.edges.begin(), one.edges.end()));
      EXPECT_EQ(std::adjacent_find(one.edges.begin(), one.edges.end()), one.edges.end());
      EXPECT_GT(one.edges.size(), 130'000U);
      for (const int threads : many) {
        const Graph more = read_graph(file, with(threads), kind);
        EXPECT_EQ(more.nodes, one.nodes);
        EXPECT_EQ(more.right_nodes, one.right_nodes);
        EXPECT_EQ(more.labels.names, one.labels.names);
        EXPECT_EQ(more.right_labels.names, one.right_labels.names);
        EXPECT_EQ(more.edges, one.edges);
      }
      const auto by_number = [](const auto& a, const auto& b) { return std::stol(a) < std::stol(b); };
      EXPECT_TRUE(words || std::is_sorted(one.labels.names.begin(), one.labels.names.end(), by_number));
    }
  }
}

TEST_F(OnThreads, TheFirstBadLineOfAListOfEdges) {
  const std::string good = edge_list(true);
  const auto first = std::count(good.begin(), good.end(), '\n') + 1;
  const auto says = [&](const std::string& behind, Offset line, std::string_view words) {
    const std::string file = make("edges.csv", good + behind + good.substr(good.find("target") + 7));
    for (const int threads : many) {
      for (const GraphKind kind : {GraphKind::undirected, GraphKind::bipartite})
        expect_says(error_of([&] { read_graph(file, with(threads), kind); }),
                    {fmt::format("line {}:", first + line), words});
    }
  };
  says("# one\nlonely\n1,\"2\n", 1, "an edge needs two nodes: 'lonely'");
  says("1,\"2\nlonely\n", 0, "a quote is not closed");
  says("1,\xff\nlonely\n", 0, "is not UTF-8");
  says(",2\nlonely\n", 0, "the node id is empty");
  says(std::string("1,2\0\nlonely\n", 12), 0, "zero byte");
}

TEST_F(OnThreads, EntriesAsAFullMatrix) {
  std::string text;
  for (int row = 0; row < 400; ++row)
    for (int col = row % 2; col < 300; col += 2) text += fmt::format("{},{},{}\n", row, col, (row * col) % 7);
  ReadOptions options;
  options.format = Format::triplets;
  options.missing = {"3"};
  const Matrix full = matrix(make("data.csv", text), options);
  ASSERT_EQ(full.rows, 400);
  ASSERT_EQ(full.cols, 300);
  for (int row = 0; row < 400; ++row) {
    for (int col = 0; col < 300; ++col) {
      const Real value = full.value[static_cast<std::size_t>(300 * row + col)];
      const bool hole = (row + col) % 2 == 1 || (row * col) % 7 == 3;
      ASSERT_EQ(std::isnan(value), hole);
      ASSERT_EQ(hole ? Real(-1) : value, Real(hole ? -1 : (row * col) % 7));
    }
  }
}

}  // namespace
}  // namespace tracenorm::io
