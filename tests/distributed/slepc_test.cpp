// Another library's singular values on the same ranks: SLEPc's thick-restart Lanczos judges our bounds of sigma_1, and
// knows the optimum of a matrix of squares, which is seen whole.
#include <gtest/gtest.h>
#include <slepcsvd.h>

#include <Eigen/Core>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "support/identifier.hpp"
#include "tracenorm/mpi.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm {
namespace {

/// Ends all ranks where SLEPc complains: a rank that went on alone would hang the others.
void need(PetscErrorCode error) { CHKERRABORT(PETSC_COMM_WORLD, error); }

/// MPI begins and ends once in a process.
class Library : public testing::Environment {
 public:
  void SetUp() override {
    static_cast<void>(mpi_ranks());
    need(SlepcInitializeNoArguments());
  }
  void TearDown() override { need(SlepcFinalize()); }
};

const auto* const library = testing::AddGlobalTestEnvironment(new Library);  // GoogleTest's to delete

/// The largest singular values of sparse + low rank, of which every rank has the entries in its rows.
std::vector<double> singular_values(Index rows, Index cols, const Entries& places, const std::vector<double>& values,
                                    const LowRankMatrix& low_rank, Index count) {
  Mat sparse = nullptr;
  need(MatCreate(PETSC_COMM_WORLD, &sparse));
  need(MatSetSizes(sparse, PETSC_DECIDE, PETSC_DECIDE, rows, cols));
  need(MatSetType(sparse, MATAIJ));
  need(MatSetUp(sparse));
  PetscInt first = 0;
  PetscInt last = 0;
  PetscInt first_col = 0;
  PetscInt last_col = 0;
  need(MatSetOption(sparse, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  need(MatGetOwnershipRange(sparse, &first, &last));
  need(MatGetOwnershipRangeColumn(sparse, &first_col, &last_col));
  for (std::size_t e = 0; e < places.row.size(); ++e) {
    if (places.row[e] < first || places.row[e] >= last) continue;
    need(MatSetValue(sparse, places.row[e], places.col[e], values[e], INSERT_VALUES));
  }
  need(MatAssemblyBegin(sparse, MAT_FINAL_ASSEMBLY));
  need(MatAssemblyEnd(sparse, MAT_FINAL_ASSEMBLY));

  const auto share = [](const Eigen::MatrixXd& factor, PetscInt from, PetscInt to) {
    Mat part = nullptr;
    need(MatCreateDense(PETSC_COMM_WORLD, PetscInt(to - from), PETSC_DECIDE, factor.rows(), factor.cols(), nullptr,
                        &part));
    for (PetscInt i = from; i < to; ++i) {
      for (PetscInt j = 0; j < factor.cols(); ++j) need(MatSetValue(part, i, j, factor(i, j), INSERT_VALUES));
    }
    need(MatAssemblyBegin(part, MAT_FINAL_ASSEMBLY));
    need(MatAssemblyEnd(part, MAT_FINAL_ASSEMBLY));
    return part;
  };
  Mat left = nullptr;
  Mat right = nullptr;
  Mat whole = sparse;
  if (low_rank.terms() > 0) {
    left = share(low_rank.left() * low_rank.values().asDiagonal(), first, last);
    right = share(low_rank.right(), first_col, last_col);
    need(MatCreateLRC(sparse, left, nullptr, right, &whole));
  }

  SVD svd = nullptr;
  need(SVDCreate(PETSC_COMM_WORLD, &svd));
  need(SVDSetOperators(svd, whole, nullptr));
  need(SVDSetType(svd, SVDTRLANCZOS));
  need(SVDSetDimensions(svd, count, PETSC_DEFAULT, PETSC_DEFAULT));
  need(SVDSetTolerances(svd, 1e-12, 10000));
  need(SVDSolve(svd));
  PetscInt converged = 0;
  need(SVDGetConverged(svd, &converged));
  EXPECT_GE(converged, count);
  std::vector<double> largest;
  for (PetscInt i = 0; i < std::min(converged, PetscInt(count)); ++i) {
    double sigma = 0;
    need(SVDGetSingularTriplet(svd, i, &sigma, nullptr, nullptr));
    largest.push_back(sigma);
  }
  need(SVDDestroy(&svd));
  if (whole != sparse) need(MatDestroy(&whole));
  need(MatDestroy(&left));
  need(MatDestroy(&right));
  need(MatDestroy(&sparse));
  return largest;
}

/// A matrix of rank 3 with noise, of which a third is known.
Entries some_entries(Index rows, Index cols) {
  Random random(11);
  const Eigen::MatrixXd left = Eigen::MatrixXd::NullaryExpr(rows, 3, [&] { return random.normal(); });
  const Eigen::MatrixXd right = Eigen::MatrixXd::NullaryExpr(cols, 3, [&] { return random.normal(); });
  Entries entries;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (random.uniform() > 0.33) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(Real(left.row(i).dot(right.row(j)) + 0.2 * random.normal()));
    }
  }
  return entries;
}

struct Shape {
  Index rows;
  Index cols;
};

class SlepcProof : public testing::TestWithParam<std::tuple<Shape, std::string>> {};

TEST_P(SlepcProof, OfALowerBoundHasThatLargestSingularValue) {
  const auto& [shape, penalty] = GetParam();
  const Entries entries = some_entries(shape.rows, shape.cols);
  Problem problem{make_sparse(shape.rows, shape.cols, entries)};
  problem.penalty = parse_penalty(penalty);
  problem.constraint.radius = 50;
  RunOptions options;
  options.iterations = 60;
  options.keep_dual = true;
  const Result result = solve(problem, methods::Corrective{}, options, {.ranks = mpi_ranks()});
  ASSERT_TRUE(result.dual.has_value());

  // lower bound = - sum of conjugates - radius sigma_1, with the conjugates of this loss |x - y| by hand.
  const LowRankMatrix& elsewhere = result.dual->elsewhere;
  std::vector<double> slopes(result.dual->slope.begin(), result.dual->slope.end());
  double conjugates = 0;
  double elsewhere_at_entries = 0;
  for (std::size_t e = 0; e < slopes.size(); ++e) {
    ASSERT_LE(std::abs(slopes[e]), 1);
    conjugates += slopes[e] * double(entries.value[e]);
    if (elsewhere.terms() == 0) continue;
    const double there = elsewhere.entry(entries.row[e], entries.col[e]);
    elsewhere_at_entries += there * there;
    slopes[e] -= there;
  }
  if (const auto* complement = std::get_if<ComplementSquaredPenalty>(&problem.penalty)) {
    conjugates += (elsewhere.dense().squaredNorm() - elsewhere_at_entries) / (4 * complement->lambda);
  }
  const double sigma = singular_values(shape.rows, shape.cols, entries, slopes, elsewhere, 1).at(0);
  const double bound = -conjugates - problem.constraint.radius * sigma;
  EXPECT_LE(result.lower_bound, bound + 1e-10 * std::abs(bound));  // SLEPc was asked for 1e-12
  EXPECT_GE(result.lower_bound, bound - 1e-6 * std::abs(bound));
}

std::string name_of(const testing::TestParamInfo<std::tuple<Shape, std::string>>& tested) {
  const auto& [shape, penalty] = tested.param;
  return test::identifier(std::to_string(shape.rows) + "_rows_" + penalty);
}

INSTANTIATE_TEST_SUITE_P(All, SlepcProof,
                         testing::Combine(testing::Values(Shape{90, 60}, Shape{40, 120}),
                                          testing::Values("none", "complement-squared:0.05")),
                         name_of);

TEST(Slepc, KnowsTheOptimumOfSquaresOfAWholeMatrix) {
  // min ||X - Y||^2 over the ball lowers the singular values of Y by one number until their sum is the radius.
  constexpr Index kRows = 70;
  constexpr Index kCols = 45;
  constexpr Index kKept = 12;
  const Entries sparse = some_entries(kRows, kCols);
  Random random(12);
  const LowRankMatrix low_rank(Eigen::MatrixXd::NullaryExpr(kRows, 2, [&] { return random.normal(); }),
                               Eigen::Vector2d(2, 1),
                               Eigen::MatrixXd::NullaryExpr(kCols, 2, [&] { return random.normal(); }));
  Eigen::MatrixXd y = low_rank.dense();
  for (std::size_t e = 0; e < sparse.row.size(); ++e) y(sparse.row[e], sparse.col[e]) += double(sparse.value[e]);
  const std::vector<double> sigma =
      singular_values(kRows, kCols, sparse, {sparse.value.begin(), sparse.value.end()}, low_rank, kKept);
  ASSERT_EQ(sigma.size(), std::size_t{kKept});

  DenseObservations data{kRows, kCols, {}, {}};
  std::vector<Real> values;
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kCols; ++j) values.push_back(Real(y(i, j)));
  }
  data.value = std::move(values);
  Problem problem{std::move(data)};
  problem.loss = losses::Squared{};
  problem.constraint.radius = 0.5 * (sigma[0] + sigma[1] + sigma[2] + sigma[3]);
  double cut = 0;
  double sum = 0;
  Index kept = 0;
  do {  // one more value, while it is above what all of them are lowered by
    sum += sigma[static_cast<std::size_t>(kept++)];
    cut = (sum - problem.constraint.radius) / double(kept);
    ASSERT_LT(kept, kKept);
  } while (sigma[static_cast<std::size_t>(kept)] > cut);
  double optimum = y.squaredNorm() + double(kept) * cut * cut;
  for (Index i = 0; i < kept; ++i) optimum -= std::pow(sigma[static_cast<std::size_t>(i)], 2);

  RunOptions options;
  options.iterations = 500;
  options.gap = 1e-5;
  const Result result = solve(problem, methods::Corrective{}, options, {.ranks = mpi_ranks()});
  EXPECT_EQ(result.status, Status::gap_reached) << result.message;
  EXPECT_LE(result.lower_bound, optimum * (1 + 1e-6));  // data in single precision
  EXPECT_GE(result.objective, optimum * (1 - 1e-6));
  EXPECT_NEAR(result.objective, optimum, 2e-5 * optimum);
}

}  // namespace
}  // namespace tracenorm
