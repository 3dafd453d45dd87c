// The updated SVD against a dense one that is recomputed.
#include "solver/thin_svd.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/LU>

#include "support/dense_svd.hpp"
#include "support/host_panels.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

using test::Host;
using test::unit;

Eigen::MatrixXd dense(const Host& host, ThinSvd& x) { return host.dense(x.factors()); }

void expect_thin(Host& host, ThinSvd& x, const Eigen::MatrixXd& expected) {
  const double size = 1e-15 + expected.norm();
  EXPECT_LT((dense(host, x) - expected).norm(), 1e-11 * size);
  const Index r = x.rank();
  if (r == 0) return;
  const Eigen::VectorXd s = test::singular_values(expected);
  EXPECT_LT((x.values() - s.head(r)).norm(), 1e-11 * size);
  if (r < s.size()) {
    EXPECT_LT(s[r], 1e-11 * s[0]);
  }
  EXPECT_LT((host.panels.gram(x.left(), x.left()) - Eigen::MatrixXd::Identity(r, r)).norm(), 1e-9);
  EXPECT_LT((host.panels.gram(x.right(), x.right()) - Eigen::MatrixXd::Identity(r, r)).norm(), 1e-9);
}

TEST(ThinSvd, BlendsLikeADenseMatrix) {
  Random random(3);
  for (const auto& [m, n] : {std::pair{30, 20}, std::pair{6, 40}, std::pair{40, 6}, std::pair{1, 9}, std::pair{9, 1}}) {
    Host host(m, n);
    ThinSvd x{FactoredMatrix(host.panels)};
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(m, n);
    for (int k = 0; k < 120; ++k) {
      const Eigen::VectorXd left = unit(random, m);
      const Eigen::VectorXd right = unit(random, n);
      const double t = 2.0 / (k + 2);
      x.blend(t, host.atom(left, right, -4.0));
      expected = (1 - t) * expected - 4 * t * left * right.transpose();
      EXPECT_GE(x.terms(), Eigen::FullPivLU<Eigen::MatrixXd>(expected).rank()) << "an upper bound of the rank";
      if (k % 7 == 0) expect_thin(host, x, expected);
    }
    expect_thin(host, x, expected);
    const Eigen::VectorXd u = unit(random, m);
    const Eigen::VectorXd v = unit(random, n);
    const Panel left = host.vector(Side::left, u);
    const Panel right = host.vector(Side::right, v);
    EXPECT_NEAR(x.inner(left, right), u.dot(expected * v), 1e-12);
    const Panel out = host.vector(Side::left, Eigen::VectorXd::Ones(m));
    x.add_product(2.0, right, out);
    EXPECT_LT((host.panels.download(out) - Eigen::VectorXd::Ones(m) - 2 * expected * v).norm(), 1e-11);
    const Panel back = host.vector(Side::right, Eigen::VectorXd::Zero(n));
    x.add_product(-1.0, left, back);
    EXPECT_LT((host.panels.download(back) + expected.transpose() * u).norm(), 1e-11);
    EXPECT_NEAR(x.square_norm(), expected.squaredNorm(), 1e-10);
  }
}

TEST(ThinSvd, AnAtomInTheSpanAddsNoTerm) {
  Random random(4);
  Host host(20, 15);
  ThinSvd x{FactoredMatrix(host.panels)};
  const Atom a = host.atom(unit(random, 20), unit(random, 15), 1.0);
  const Atom b = host.atom(unit(random, 20), unit(random, 15), 1.0);
  for (int k = 0; k < 60; ++k) x.blend(0.3, k % 2 == 0 ? a : b);
  EXPECT_EQ(x.rank(), 2);
}

TEST(ThinSvd, EachDropLowersTheRankByOneAndIsTheFormula) {
  Random random(5);
  for (const double filled : {1.0, 0.6}) {  // on the boundary of the ball, and inside
    const double radius = 10;
    Host host(25, 18);
    ThinSvd x{FactoredMatrix(host.panels)};
    for (int k = 0; k < 12; ++k) {
      x.blend(2.0 / (k + 2), host.atom(unit(random, 25), unit(random, 18), filled * radius));
    }
    while (x.rank() > 1) {
      const Index r = x.rank();
      const Eigen::VectorXd q = unit(random, r);
      const Eigen::VectorXd s = x.values();
      const double removed = q.dot(s.cwiseProduct(q));
      const double c = random.uniform() < 0.5 ? 1.0 : radius / (radius - removed);
      const Eigen::VectorXd root = s.cwiseSqrt();
      const Eigen::MatrixXd middle =
          root.asDiagonal() * (Eigen::MatrixXd::Identity(r, r) - q * q.transpose()) * root.asDiagonal();
      const Eigen::MatrixXd expected =
          c * host.panels.download(x.left()) * middle * host.panels.download(x.right()).transpose();
      x.drop(q, c);
      EXPECT_EQ(x.rank(), r - 1);
      expect_thin(host, x, expected);
      const Eigen::VectorXd after = test::singular_values(dense(host, x));
      EXPECT_LT(after[r - 1], 1e-12 * after[0]);                 // the rank fell, to machine precision
      EXPECT_NEAR(after.sum(), c * (s.sum() - removed), 1e-10);  // as the theory says
      EXPECT_LE(after.sum(), radius * (1 + 1e-12));              // so it stays feasible
    }
    x.drop(Eigen::VectorXd::Ones(1), 1.0);
    EXPECT_EQ(x.rank(), 0);
    EXPECT_EQ(dense(host, x).norm(), 0.0);
    x.blend(0.5, host.atom(unit(random, 25), unit(random, 18), 2.0));  // and life goes on
    EXPECT_EQ(x.rank(), 1);
  }
}

TEST(ThinSvd, StaysOrthonormalOverThousandsOfUpdates) {
  Random random(6);
  Host host(60, 50);
  ThinSvd x{FactoredMatrix(host.panels)};
  for (int k = 0; k < 3000; ++k) {
    x.blend(0.2, host.atom(unit(random, 60), unit(random, 50), 3.0));
    while (x.rank() > 10) x.drop(Eigen::VectorXd::Unit(x.rank(), x.rank() - 1), 1.0);
  }
  EXPECT_LT(x.drift(), 1e-9);
  EXPECT_LE(x.values().sum(), 3.0 * (1 + 1e-9));
}

}  // namespace
}  // namespace tracenorm
