#include "tracenorm/low_rank_matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "support/dense_svd.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

using test::unit;

/// Some terms that are not orthogonal.
LowRankMatrix some_terms(Random& random, Index rows, Index cols, Index terms) {
  Eigen::MatrixXd left(rows, terms);
  Eigen::MatrixXd right(cols, terms);
  for (Index t = 0; t < terms; ++t) {
    left.col(t) = unit(random, rows);
    right.col(t) = unit(random, cols);
  }
  return {left, Eigen::VectorXd::LinSpaced(terms, 0.5, 1.5), right};
}

TEST(LowRankMatrix, CompressAfterEveryKindOfChange) {
  Random random(6);
  LowRankMatrix x = some_terms(random, 9, 7, 3);
  const auto expect_thin_svd_of = [&](const Eigen::MatrixXd& dense) {
    x.compress();
    const Eigen::VectorXd values = test::singular_values(dense);
    EXPECT_LT((x.dense() - dense).norm(), 1e-14);
    EXPECT_LT((Eigen::VectorXd(x.values()) - values.head(x.terms())).norm(), 1e-14);
    EXPECT_LT((x.left().transpose() * x.left() - Eigen::MatrixXd::Identity(x.terms(), x.terms())).norm(), 1e-13);
    EXPECT_LT((x.right().transpose() * x.right() - Eigen::MatrixXd::Identity(x.terms(), x.terms())).norm(), 1e-13);
  };
  expect_thin_svd_of(x.dense());
  expect_thin_svd_of(x.dense());
  Eigen::MatrixXd dense = -0.5 * x.dense();
  x.scale(-0.5);
  expect_thin_svd_of(dense);
  const Eigen::VectorXd rows = Eigen::VectorXd::LinSpaced(9, 0.5, 2);
  const Eigen::VectorXd cols = Eigen::VectorXd::LinSpaced(7, 3, 1);
  dense = rows.asDiagonal() * x.dense() * cols.asDiagonal();
  x.scale(rows, cols);
  expect_thin_svd_of(dense);
  EXPECT_EQ(x.terms(), 3);
}

TEST(LowRankMatrix, AMatrixThatIsNotFiniteStaysAsItIs) {
  Random random(7);
  LowRankMatrix x(unit(random, 5), Eigen::VectorXd::Constant(1, std::numeric_limits<double>::quiet_NaN()),
                  unit(random, 4));
  x.compress();
  EXPECT_EQ(x.terms(), 1);
  EXPECT_TRUE(std::isnan(x.trace_norm_bound()));
}

TEST(LowRankMatrix, TheZeroMatrixWorks) {
  LowRankMatrix zero(3, 2);
  zero.compress();
  EXPECT_EQ(zero.terms(), 0);
  EXPECT_EQ(zero.entry(1, 1), 0.0);
  EXPECT_EQ(zero.dense().norm(), 0.0);
  std::vector<Real> out;
  zero.sample({0, 2}, {1, 0}, out);
  EXPECT_EQ(out, (std::vector<Real>{0, 0}));
}

TEST(LowRankMatrix, EntriesSamplesAndRowsAgree) {
  Random random(6);
  const LowRankMatrix x = some_terms(random, 6, 9, 5);
  const Eigen::MatrixXd dense = x.dense();
  std::vector<Real> out;
  x.sample({0, 5, 3}, {8, 0, 4}, out);
  EXPECT_NEAR(double(out[0]), dense(0, 8), 1e-6);
  EXPECT_NEAR(double(out[1]), dense(5, 0), 1e-6);
  EXPECT_NEAR(x.entry(3, 4), dense(3, 4), 1e-14);
  EXPECT_LT((x.dense_rows(2, 5) - dense.middleRows(2, 3)).norm(), 1e-14);
}

}  // namespace
}  // namespace tracenorm
