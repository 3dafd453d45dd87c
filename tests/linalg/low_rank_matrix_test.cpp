#include "tracenorm/low_rank_matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace tracenorm {
namespace {

Eigen::VectorXd unit(Random& random, Index n) {
  Eigen::VectorXd v(n);
  for (Index i = 0; i < n; ++i) v[i] = random.normal();
  return v.normalized();
}

double trace_norm(const Eigen::MatrixXd& dense) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(dense).singularValues().sum();
}

TEST(LowRankMatrix, BlendsAndCompressesLikeADenseMatrix) {
  Random random(3);
  LowRankMatrix x(13, 8);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(13, 8);
  for (int k = 0; k < 40; ++k) {
    const Atom atom{unit(random, 13), unit(random, 8), -5.0};
    const double t = 2.0 / (k + 2);
    x.blend(t, atom);
    dense = (1 - t) * dense + t * atom.weight * atom.left * atom.right.transpose();
    EXPECT_LT((x.dense() - dense).norm(), 1e-12 * dense.norm());
    EXPECT_GE(x.trace_norm_bound() * (1 + 1e-12), trace_norm(dense));
    EXPECT_LE(x.trace_norm_bound(), 5.0 * (1 + 1e-12));
    if (k % 15 == 14) {
      x.compress();
      EXPECT_LT((x.dense() - dense).norm(), 1e-12 * dense.norm());
      EXPECT_EQ(x.terms(), 8);
      EXPECT_NEAR(x.trace_norm_bound(), trace_norm(dense), 1e-12);
      EXPECT_LT((x.left().transpose() * x.left() - Eigen::MatrixXd::Identity(8, 8)).norm(), 1e-12);
      EXPECT_LT((x.right().transpose() * x.right() - Eigen::MatrixXd::Identity(8, 8)).norm(), 1e-12);
    }
  }
}

TEST(LowRankMatrix, AStepOfOneForgets) {
  Random random(4);
  LowRankMatrix x(5, 4);
  x.blend(0.5, {unit(random, 5), unit(random, 4), 2.0});
  x.blend(1.0, {unit(random, 5), unit(random, 4), 3.0});
  EXPECT_EQ(x.terms(), 1);
  EXPECT_DOUBLE_EQ(x.trace_norm_bound(), 3.0);
}

TEST(LowRankMatrix, CompressFindsTheRank) {
  Random random(5);
  LowRankMatrix x(9, 7);
  const Atom a{unit(random, 9), unit(random, 7), 1.0};
  const Atom b{unit(random, 9), unit(random, 7), 1.0};
  for (int k = 0; k < 10; ++k) x.blend(0.3, k % 2 == 0 ? a : b);
  x.compress();
  EXPECT_EQ(x.terms(), 2);
  LowRankMatrix cancelled(9, 7);
  cancelled.blend(1.0, a);
  Atom opposite = a;
  opposite.weight = -1.0;
  cancelled.blend(0.5, opposite);
  cancelled.compress();
  EXPECT_LT(cancelled.dense().norm(), 1e-15);
}

TEST(LowRankMatrix, CompressAfterEveryKindOfChange) {
  Random random(6);
  LowRankMatrix x(9, 7);
  for (int k = 0; k < 3; ++k) x.blend(0.4, {unit(random, 9), unit(random, 7), 1.0});
  const auto expect_thin_svd_of = [&](const Eigen::MatrixXd& dense) {
    x.compress();
    const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(dense).singularValues();
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
  const LowRankMatrix other = x;
  dense = 0.25 * x.dense() + 0.75 * other.dense();
  x.blend(0.75, other);
  expect_thin_svd_of(dense);
  EXPECT_EQ(x.terms(), 3);
}

TEST(LowRankMatrix, AMatrixThatIsNotFiniteStaysAsItIs) {
  Random random(7);
  LowRankMatrix x(5, 4);
  x.blend(0.5, {unit(random, 5), unit(random, 4), std::numeric_limits<double>::quiet_NaN()});
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

TEST(LowRankMatrix, EntriesSamplesAndInnerProductsAgree) {
  Random random(6);
  LowRankMatrix x(6, 9);
  for (int k = 0; k < 5; ++k) x.blend(0.4, {unit(random, 6), unit(random, 9), 2.0});
  const Eigen::MatrixXd dense = x.dense();
  std::vector<Real> out;
  x.sample({0, 5, 3}, {8, 0, 4}, out);
  EXPECT_NEAR(double(out[0]), dense(0, 8), 1e-6);
  EXPECT_NEAR(double(out[1]), dense(5, 0), 1e-6);
  EXPECT_NEAR(x.entry(3, 4), dense(3, 4), 1e-14);
  const Eigen::VectorXd u = unit(random, 6);
  const Eigen::VectorXd v = unit(random, 9);
  EXPECT_NEAR(x.inner(u, v), u.dot(dense * v), 1e-14);
  EXPECT_LT((x.dense_rows(2, 5) - dense.middleRows(2, 3)).norm(), 1e-14);
}

}  // namespace
}  // namespace tracenorm
