#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

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

TEST(Observations, DenseKeepsMissingAsNaN) {
  const DenseObservations dense = make_dense(make_sparse(2, 2, {{0, 1}, {1, 0}, {0, 5}}));
  EXPECT_TRUE(std::isnan(dense.value[0]));
  EXPECT_EQ(dense.value[1], 0);  // a stored zero is data
  EXPECT_EQ(dense.value[2], 5);
  EXPECT_EQ(observed(Observations(dense)), 2);
  EXPECT_THROW(make_dense(make_sparse(2, 2, {{0}, {0}, {1}}), 10), Error);
}

TEST(Pattern, RefusesWhatIsNoPattern) {
  EXPECT_THROW(SparsePattern(2, 2, {0, 1}, {0}), Error);
  EXPECT_THROW(SparsePattern(1, 2, {0, 2}, {1, 0}), Error);
  EXPECT_THROW(SparsePattern(1, 2, {0, 1}, {2}), Error);
  EXPECT_THROW(SparsePattern(1, 2, {0, 2}, {0}), Error);
}

}  // namespace
}  // namespace tracenorm
