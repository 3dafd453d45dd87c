// The updated SVD against a dense one that is recomputed.
#include "linalg/thin_svd.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "base/random.hpp"

namespace tracenorm {
namespace {

Eigen::VectorXd unit(Random& random, Eigen::Index n) {
  Eigen::VectorXd v(n);
  for (Eigen::Index i = 0; i < n; ++i) v[i] = random.normal();
  return v.normalized();
}

Eigen::MatrixXd dense(ThinSvd& x) { return x.to_low_rank().dense(); }

void expect_thin(ThinSvd& x, const Eigen::MatrixXd& expected) {
  const double size = 1e-15 + expected.norm();
  EXPECT_LT((dense(x) - expected).norm(), 1e-11 * size);
  const Index r = x.rank();
  if (r == 0) return;
  const Eigen::VectorXd s = Eigen::JacobiSVD<Eigen::MatrixXd>(expected).singularValues();
  EXPECT_LT((x.values() - s.head(r)).norm(), 1e-11 * size);
  if (r < s.size()) {
    EXPECT_LT(s[r], 1e-11 * s[0]);
  }
  EXPECT_LT((x.left().transpose() * x.left() - Eigen::MatrixXd::Identity(r, r)).norm(), 1e-9);
  EXPECT_LT((x.right().transpose() * x.right() - Eigen::MatrixXd::Identity(r, r)).norm(), 1e-9);
}

TEST(ThinSvd, BlendsLikeADenseMatrix) {
  Random random(3);
  for (const auto& [m, n] : {std::pair{30, 20}, std::pair{6, 40}, std::pair{40, 6}, std::pair{1, 9}, std::pair{9, 1}}) {
    ThinSvd x{LowRankMatrix(m, n)};
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(m, n);
    for (int k = 0; k < 120; ++k) {
      const Atom atom{unit(random, m), unit(random, n), -4.0};
      const double t = 2.0 / (k + 2);
      x.blend(t, atom);
      expected = (1 - t) * expected + t * atom.weight * atom.left * atom.right.transpose();
      if (k % 7 == 0) expect_thin(x, expected);
      EXPECT_GE(x.terms() + 0, std::min({m, n, 1}));
    }
    expect_thin(x, expected);
    const Eigen::VectorXd u = unit(random, m);
    const Eigen::VectorXd v = unit(random, n);
    EXPECT_NEAR(x.inner(u, v), u.dot(expected * v), 1e-12);
    Eigen::VectorXd out = Eigen::VectorXd::Ones(m);
    x.add_product(2.0, v, out);
    EXPECT_LT((out - Eigen::VectorXd::Ones(m) - 2 * expected * v).norm(), 1e-11);
    Eigen::VectorXd back = Eigen::VectorXd::Zero(n);
    x.add_transpose_product(-1.0, u, back);
    EXPECT_LT((back + expected.transpose() * u).norm(), 1e-11);
    EXPECT_NEAR(x.square_norm(), expected.squaredNorm(), 1e-10);
  }
}

TEST(ThinSvd, AnAtomInTheSpanAddsNoTerm) {
  Random random(4);
  ThinSvd x{LowRankMatrix(20, 15)};
  const Atom a{unit(random, 20), unit(random, 15), 1.0};
  const Atom b{unit(random, 20), unit(random, 15), 1.0};
  for (int k = 0; k < 60; ++k) x.blend(0.3, k % 2 == 0 ? a : b);
  EXPECT_EQ(x.rank(), 2);
}

TEST(ThinSvd, EachDropLowersTheRankByOneAndIsTheFormula) {
  Random random(5);
  for (const double filled : {1.0, 0.6}) {  // on the boundary of the ball, and inside
    const double radius = 10;
    ThinSvd x{LowRankMatrix(25, 18)};
    for (int k = 0; k < 12; ++k) x.blend(2.0 / (k + 2), {unit(random, 25), unit(random, 18), filled * radius});
    while (x.rank() > 1) {
      const Index r = x.rank();
      const Eigen::VectorXd q = unit(random, r);
      const Eigen::VectorXd s = x.values();
      const double removed = q.dot(s.cwiseProduct(q));
      const double c = random.uniform() < 0.5 ? 1.0 : radius / (radius - removed);
      const Eigen::VectorXd root = s.cwiseSqrt();
      const Eigen::MatrixXd middle =
          root.asDiagonal() * (Eigen::MatrixXd::Identity(r, r) - q * q.transpose()) * root.asDiagonal();
      const Eigen::MatrixXd expected = c * x.left() * middle * x.right().transpose();
      x.drop(q, c);
      EXPECT_EQ(x.rank(), r - 1);
      expect_thin(x, expected);
      const Eigen::VectorXd after = Eigen::JacobiSVD<Eigen::MatrixXd>(dense(x)).singularValues();
      EXPECT_LT(after[r - 1], 1e-12 * after[0]);                 // the rank fell, to machine precision
      EXPECT_NEAR(after.sum(), c * (s.sum() - removed), 1e-10);  // as the theory says
      EXPECT_LE(after.sum(), radius * (1 + 1e-12));              // so it stays feasible
    }
    x.drop(Eigen::VectorXd::Ones(1), 1.0);
    EXPECT_EQ(x.rank(), 0);
    EXPECT_EQ(dense(x).norm(), 0.0);
    x.blend(0.5, {unit(random, 25), unit(random, 18), 2.0});  // and life goes on
    EXPECT_EQ(x.rank(), 1);
  }
}

TEST(ThinSvd, StaysOrthonormalOverThousandsOfUpdates) {
  Random random(6);
  ThinSvd x{LowRankMatrix(60, 50)};
  for (int k = 0; k < 3000; ++k) {
    x.blend(0.2, {unit(random, 60), unit(random, 50), 3.0});
    while (x.rank() > 10) x.drop(Eigen::VectorXd::Unit(x.rank(), x.rank() - 1), 1.0);
  }
  EXPECT_LT(x.drift(), 1e-9);
  EXPECT_LE(x.values().sum(), 3.0 * (1 + 1e-9));
}

}  // namespace
}  // namespace tracenorm
