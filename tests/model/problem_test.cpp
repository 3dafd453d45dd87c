#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "model/coded_data.hpp"
#include "model/entry_functions.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {
namespace {

Problem small(const Loss& loss = losses::Absolute{}) {
  return {make_sparse(2, 3, {{0, 1, 1}, {2, 0, 1}, {1, -1, 1}}), loss, NoPenalty{}, TraceNormBall{1.0}};
}

std::string complaint(const Problem& problem) {
  try {
    check(problem);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Problem, AGoodProblemPasses) {
  EXPECT_EQ(complaint(small()), "");
  EXPECT_EQ(complaint(small(losses::Hinge{})), "");
}

TEST(Problem, EveryBadPartIsNamed) {
  Problem problem = small();
  problem.constraint = TraceNormBall{-1};
  EXPECT_NE(complaint(problem).find("radius = -1"), std::string::npos);
  problem = small();
  problem.penalty = L1Penalty{-0.5};
  EXPECT_NE(complaint(problem).find("lambda must be"), std::string::npos);
  problem = small(losses::Custom{});
  EXPECT_NE(complaint(problem).find("no function"), std::string::npos);
  problem = small(losses::Hinge{});
  std::get<SparseObservations>(problem.observations).value = {1, 3, 1};
  EXPECT_NE(complaint(problem).find("row 1, column 0 holds 3"), std::string::npos) << complaint(problem);
  problem = small();
  std::get<SparseObservations>(problem.observations).value = {std::numeric_limits<Real>::quiet_NaN(), 1, 1};
  EXPECT_NE(complaint(problem).find("row 0, column 2 holds nan"), std::string::npos) << complaint(problem);
  problem = small();
  std::get<SparseObservations>(problem.observations).weight = {1, 0, 1};
  EXPECT_NE(complaint(problem).find("weight at row 1, column 0 is 0"), std::string::npos) << complaint(problem);
  problem = {DenseObservations{1, 2, {Real(NAN), Real(NAN)}, {}}, losses::Absolute{}, NoPenalty{}, TraceNormBall{1}};
  EXPECT_NE(complaint(problem).find("no entry is observed"), std::string::npos);
}

TEST(Observations, SortedIntoRowsAndDuplicatesRefused) {
  const SparseObservations sparse = make_sparse(3, 4, {{2, 0, 2, 0}, {3, 1, 0, 0}, {1, 2, 3, 4}}, {1, 2, 3, 4});
  EXPECT_EQ(sparse.pattern.entries(), 4);
  const std::vector<Real> sorted{4, 2, 3, 1};
  EXPECT_TRUE(std::equal(sparse.value.begin(), sparse.value.end(), sorted.begin(), sorted.end()));
  EXPECT_TRUE(std::equal(sparse.weight.begin(), sparse.weight.end(), sorted.begin(), sorted.end()));
  EXPECT_EQ(sparse.pattern.begin()[1], 2);
  EXPECT_EQ(sparse.pattern.begin()[2], 2);  // an empty row
  EXPECT_THROW(make_sparse(3, 4, {{0, 0}, {1, 1}, {1, 2}}), Error);
  EXPECT_THROW(make_sparse(3, 4, {{3}, {1}, {1}}), Error);
  EXPECT_THROW(make_sparse(3, 4, {{0}, {-1}, {1}}), Error);
}

/// Entries in a wild order, a few rows without any; every third is left for others.
Entries scattered(Index rows, Index cols, bool thirds) {
  Entries entries;
  for (std::int64_t k = 0; k < 200'000; ++k) {
    if ((k % 3 == 0) != thirds) continue;
    const std::int64_t place = k * 7'919 % (std::int64_t{rows} * cols);  // a prime: no place twice
    const auto row = static_cast<Index>(place / cols);
    if (row % 10 == 4) continue;
    entries.row.push_back(row);
    entries.col.push_back(static_cast<Index>(place % cols));
    entries.value.push_back(Real(k % 1000));
  }
  return entries;
}

void expect_same(const SparseObservations& a, const SparseObservations& b) {
  ASSERT_EQ(a.pattern.entries(), b.pattern.entries());
  EXPECT_TRUE(std::equal(a.pattern.begin(), a.pattern.begin() + a.pattern.rows() + 1, b.pattern.begin()));
  for (Offset e = 0; e < a.pattern.entries(); ++e) ASSERT_EQ(a.pattern.col()[e], b.pattern.col()[e]);
  EXPECT_TRUE(std::equal(a.value.begin(), a.value.end(), b.value.begin(), b.value.end()));
  EXPECT_TRUE(std::equal(a.weight.begin(), a.weight.end(), b.weight.begin(), b.weight.end()));
}

TEST(Observations, AreTheSameOnAnyNumberOfThreads) {
  for (const Index cols : {401, 65'536, 70'001}) {  // columns in 16 bits, just so, and in 32
    const Entries entries = scattered(900, cols, false);
    const SparseObservations one = make_sparse(900, cols, entries, entries.value, 1);
    expect_same(one, make_sparse(900, cols, entries, entries.value, 4));
    const SparsePattern& pattern = one.pattern;  // what was made without a look is valid
    EXPECT_NO_THROW(SparsePattern(900, cols, Array<Offset>::borrow(pattern.begin(), 901, nullptr), pattern.col()));
    const Counts counts = count_observed(one, 1);
    const Counts more = count_observed(one, 4);
    EXPECT_EQ(counts.row, more.row);
    EXPECT_EQ(counts.col, more.col);
    EXPECT_EQ(counts.row[4], 0);
    EXPECT_EQ(std::accumulate(counts.col.begin(), counts.col.end(), Offset{0}), entries.size());
  }
}

TEST(Observations, UnitedAreThoseOfAllEntries) {
  for (const Index cols : {401, 70'001}) {
    const Entries a = scattered(900, cols, false);
    const Entries b = scattered(900, cols, true);
    Entries all = a;
    all.row.insert(all.row.end(), b.row.begin(), b.row.end());
    all.col.insert(all.col.end(), b.col.begin(), b.col.end());
    all.value.insert(all.value.end(), b.value.begin(), b.value.end());
    const SparseObservations whole = make_sparse(900, cols, all, all.value);
    const SparseObservations left = make_sparse(900, cols, a, a.value);
    for (const int threads : {1, 3}) {
      expect_same(unite(left, make_sparse(900, cols, b, b.value), threads), whole);
      expect_same(unite(left, make_sparse(900, cols, {}), threads), left);
    }
    EXPECT_THROW(unite(left, make_sparse(900, cols, b)), Error) << "weights on one side only";
    EXPECT_THROW(unite(left, make_sparse(901, cols, b, b.value)), Error);
  }
}

TEST(Observations, TheFirstBadEntryIsNamedOnAnyNumberOfThreads) {
  Entries entries = scattered(900, 401, false);
  const auto complaint_of = [&] {
    std::string message;
    for (const int threads : {1, 4}) {
      try {
        make_sparse(900, 401, entries, {}, threads);
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_TRUE(message.empty() || message == error.what());
        message = error.what();
      }
    }
    return message;
  };
  const Entries good = entries;
  entries.row[90'000] = 900;
  entries.col[80'000] = -1;
  EXPECT_EQ(complaint_of(), "entry 80000: column -1 is not in 0..400");
  entries = good;
  for (const std::size_t k : {70'000, 5}) {  // the first in the order of rows
    entries.row.push_back(good.row[k]);
    entries.col.push_back(good.col[k]);
    entries.value.push_back(1);
  }
  const auto first = std::min(std::pair(good.row[5], good.col[5]), std::pair(good.row[70'000], good.col[70'000]));
  EXPECT_EQ(complaint_of(),
            fmt::format("row {}, column {} is given twice; give each entry once", first.first, first.second));
}

TEST(Observations, BorrowedArraysAreSeenInPlaceAndKeptAlive) {
  const std::vector<Index> col{1, 0};
  auto value = std::make_shared<std::vector<Real>>(std::vector<Real>{3, 4});
  const Real* place = value->data();
  SparseObservations sparse{
      SparsePattern(2, 2, Array<Offset>{0, 1, 2}, Array<Index>::borrow(col.data(), col.size(), nullptr)),
      Array<Real>::borrow(place, value->size(), value),
      {}};
  const std::weak_ptr<std::vector<Real>> watch = value;
  value.reset();
  sparse.pattern.col().visit([&](const auto* kept) { EXPECT_EQ(static_cast<const void*>(kept), col.data()); });
  SparseObservations copy = sparse;
  sparse = {};
  EXPECT_EQ(copy.value.data(), place);
  EXPECT_EQ(copy.value[1], 4);
  copy = {};
  EXPECT_TRUE(watch.expired());
}

TEST(DenseValues, CodesAreTheNumbersInOneByte) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const DenseValues plain{Real(0.5), nan, Real(2), Real(-1), nan, Real(0.5)};
  const DenseValues coded = coded_where_possible(plain);
  ASSERT_EQ(coded.code().size(), plain.size());
  const auto equal = [](const DenseValues& a, const std::vector<Real>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](Real x, Real y) { return x == y || (std::isnan(x) && std::isnan(y)); });
  };
  EXPECT_TRUE(equal(coded, {Real(0.5), nan, Real(2), Real(-1), nan, Real(0.5)}));
  EXPECT_TRUE(equal(coded.plain(), {Real(0.5), nan, Real(2), Real(-1), nan, Real(0.5)}));
  for (const DenseValues& values : {plain, coded}) {
    EXPECT_TRUE(equal(values.slice(1, 4), {nan, Real(2), Real(-1)}));
    EXPECT_TRUE(equal(values.without({0, 3}), {nan, nan, Real(2), nan, nan, Real(0.5)}));
  }
  // Levels at distances that are no multiples of the least one stay as they are, and so do more than 128 of them.
  EXPECT_TRUE(coded_where_possible({Real(0), Real(1), Real(2.5)}).code().empty());
  std::vector<Real> many(129);
  std::iota(many.begin(), many.end(), Real(0));
  EXPECT_TRUE(coded_where_possible(many).code().empty());
  many.pop_back();
  EXPECT_EQ(coded_where_possible(many).code().size(), 128U);
}

TEST(DenseValues, CodesOfManyBlocksAreThoseOfOne) {
  std::vector<Real> values(700000);  // three blocks, the last one with a level of its own
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = Real(0.25) * Real(e % 100) - 3;
  values[5] = std::numeric_limits<Real>::quiet_NaN();
  values.back() = Real(0.25) * 127 - 3;
  const DenseValues coded = coded_where_possible(values, Execution(3));
  ASSERT_EQ(coded.code().size(), values.size());
  for (std::size_t e = 0; e < values.size(); ++e) ASSERT_TRUE(coded[e] == values[e] || e == 5) << e;
  EXPECT_TRUE(std::isnan(coded[5]));
  values.back() = Real(0.25) * 128 - 3;  // one step too far, though there are 101 levels
  EXPECT_TRUE(coded_where_possible(values, Execution(3)).code().empty());
}

TEST(DenseValues, EqualDataHaveEqualFingerprints) {
  std::vector<Real> numbers(10000);  // more than one block
  for (std::size_t e = 0; e < numbers.size(); ++e) numbers[e] = Real(e % 3);
  numbers[7] = -std::numeric_limits<Real>::quiet_NaN();
  numbers[9] = -Real(0);
  const auto print = [](const DenseValues& values) { return fingerprint(DenseObservations{100, 100, values, {}}); };
  const DenseValues coded = coded_where_possible(numbers);
  ASSERT_EQ(coded.code().size(), numbers.size());
  EXPECT_EQ(print(coded), print(numbers));
  EXPECT_EQ(print(coded.slice(0, 5000)), print(std::vector<Real>(numbers.begin(), numbers.begin() + 5000)));
  for (const std::size_t place : {std::size_t{0}, std::size_t{7}, numbers.size() - 1}) {
    std::vector<Real> other = numbers;
    other[place] = Real(1) + Real(place == 0);
    EXPECT_NE(print(other), print(numbers)) << place;
    EXPECT_NE(print(coded_where_possible(other)), print(coded)) << place;
  }
}

TEST(Problem, CodedDataAreCheckedLikeOthers) {
  Problem problem = small();
  problem.observations = DenseObservations{2, 2, coded_where_possible({Real(0), Real(1), Real(0), Real(1)}), {}};
  EXPECT_EQ(complaint(problem), "");
  EXPECT_EQ(observed(problem.observations), 4);
  problem.loss = losses::Logistic{};
  EXPECT_NE(complaint(problem).find("row 0, column 0 holds 0"), std::string::npos) << complaint(problem);
  problem.loss = losses::Absolute{};
  problem.constraint.symmetry = Symmetry::symmetric;
  EXPECT_NE(complaint(problem).find("at row 0, column 1 is 1"), std::string::npos) << complaint(problem);
}

TEST(Observations, DenseKeepsMissingAsNaN) {
  const DenseObservations dense = make_dense(make_sparse(2, 2, {{0, 1}, {1, 0}, {0, 5}}));
  EXPECT_TRUE(std::isnan(dense.value[0]));
  EXPECT_EQ(dense.value[1], 0);  // a stored zero is data
  EXPECT_EQ(dense.value[2], 5);
  EXPECT_EQ(observed(Observations(dense)), 2);
  EXPECT_THROW(make_dense(make_sparse(2, 2, {{0}, {0}, {1}}), 10), Error);
}

TEST(DenseValues, CodesAreCountedAndCheckedByTheirLevels) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const DenseValues plain{Real(-1), nan, Real(2), Real(2), nan, Real(-1), Real(2), Real(0), Real(0.5)};
  const DenseValues coded = coded_where_possible(plain);
  ASSERT_FALSE(coded.code().empty());
  const std::vector<std::pair<Real, Offset>> levels{{Real(-1), 2}, {Real(0), 1}, {Real(0.5), 1}, {Real(2), 3}};
  EXPECT_EQ(count_levels(coded), levels);
  EXPECT_TRUE(count_levels(plain).empty());  // numbers as they are have no codes

  Problem problem{DenseObservations{3, 3, coded, {}}, losses::Hinge{}, NoPenalty{}, TraceNormBall{1.0}};
  EXPECT_EQ(observed(problem.observations), 7);
  const Execution execution(1);
  EXPECT_DOUBLE_EQ(root_mean_square(problem.observations, execution),
                   root_mean_square(DenseObservations{3, 3, plain, {}}, execution));
  EXPECT_NE(complaint(problem).find("row 0, column 2 holds 2"), std::string::npos) << complaint(problem);
  problem.loss = losses::Absolute{};
  EXPECT_EQ(complaint(problem), "");
  problem.constraint.symmetry = Symmetry::symmetric;  // numbers, not codes, in what is said of them
  EXPECT_NE(complaint(problem).find("row 0, column 1 is nothing, at row 1, column 0 it is 2"), std::string::npos)
      << complaint(problem);
}

TEST(Pattern, RefusesWhatIsNoPattern) {
  EXPECT_THROW(SparsePattern(2, 2, {0, 1}, {0}), Error);
  EXPECT_THROW(SparsePattern(1, 2, {0, 2}, {1, 0}), Error);
  EXPECT_THROW(SparsePattern(1, 2, {0, 1}, {2}), Error);
  EXPECT_THROW(SparsePattern(1, 2, {0, 2}, {0}), Error);
}

TEST(Pattern, FindsItsEntries) {
  const SparsePattern pattern(3, 5, {0, 3, 3, 5}, {0, 2, 4, 1, 3});
  EXPECT_EQ(pattern.find(0, 0), 0);
  EXPECT_EQ(pattern.find(0, 4), 2);
  EXPECT_EQ(pattern.find(2, 3), 4);
  for (const auto& [row, col] : {std::pair(0, 1), std::pair(0, 3), std::pair(1, 2), std::pair(2, 0), std::pair(2, 4)}) {
    EXPECT_EQ(pattern.find(row, col), -1) << row << ", " << col;
  }
}

}  // namespace
}  // namespace tracenorm
