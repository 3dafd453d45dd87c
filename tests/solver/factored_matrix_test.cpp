// Matrices in panels against dense ones.
#include "solver/factored_matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <vector>

#include "solver/thin_svd.hpp"
#include "support/dense_svd.hpp"
#include "support/host_panels.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

using test::Host;
using test::unit;

double trace_norm(const Eigen::MatrixXd& dense) { return test::singular_values(dense).sum(); }

TEST(FactoredMatrix, BlendsAndCompressesLikeADenseMatrix) {
  Random random(3);
  Host host(13, 8);
  FactoredMatrix x(host.panels);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(13, 8);
  for (int k = 0; k < 40; ++k) {
    const Eigen::VectorXd u = unit(random, 13);
    const Eigen::VectorXd v = unit(random, 8);
    const double t = 2.0 / (k + 2);
    x.blend(t, host.atom(u, v, -5.0));
    dense = (1 - t) * dense - 5 * t * u * v.transpose();
    EXPECT_LT((host.dense(x) - dense).norm(), 1e-12 * dense.norm());
    EXPECT_GE(x.trace_norm_bound() * (1 + 1e-12), trace_norm(dense));
    EXPECT_LE(x.trace_norm_bound(), 5.0 * (1 + 1e-12));
    EXPECT_NEAR(x.inner(host.vector(Side::left, u), host.vector(Side::right, v)), u.dot(dense * v), 1e-12);
    EXPECT_NEAR(x.inner(x), dense.squaredNorm(), 1e-11);
    if (k % 15 == 14) {
      x.compress();
      EXPECT_LT((host.dense(x) - dense).norm(), 1e-12 * dense.norm());
      EXPECT_EQ(x.terms(), 8);
      EXPECT_NEAR(x.trace_norm_bound(), trace_norm(dense), 1e-12);
      for (const Panel& side : {x.left(), x.right()}) {
        EXPECT_LT((host.panels.gram(side, side) - Eigen::MatrixXd::Identity(8, 8)).norm(), 1e-12);
      }
    }
  }
}

TEST(FactoredMatrix, AStepOfOneForgets) {
  Random random(4);
  Host host(5, 4);
  FactoredMatrix x(host.panels);
  x.blend(0.5, host.atom(unit(random, 5), unit(random, 4), 2.0));
  x.blend(1.0, host.atom(unit(random, 5), unit(random, 4), 3.0));
  EXPECT_EQ(x.terms(), 1);
  EXPECT_DOUBLE_EQ(x.trace_norm_bound(), 3.0);
}

TEST(FactoredMatrix, CompressFindsTheRank) {
  Random random(5);
  Host host(9, 7);
  FactoredMatrix x(host.panels);
  const Atom a = host.atom(unit(random, 9), unit(random, 7), 1.0);
  const Atom b = host.atom(unit(random, 9), unit(random, 7), 1.0);
  for (int k = 0; k < 10; ++k) x.blend(0.3, k % 2 == 0 ? a : b);
  x.compress();
  EXPECT_EQ(x.terms(), 2);
  FactoredMatrix cancelled(host.panels);
  cancelled.blend(1.0, a);
  Atom opposite = a;
  opposite.weight = -1.0;
  cancelled.blend(0.5, opposite);
  cancelled.compress();
  EXPECT_LT(host.dense(cancelled).norm(), 1e-15);
}

TEST(FactoredMatrix, ACopyIsAnotherMatrixAndAScaledOneIsCompressedAnew) {
  Random random(6);
  Host host(9, 7);
  FactoredMatrix x(host.panels);
  for (int k = 0; k < 3; ++k) x.blend(0.4, host.atom(unit(random, 9), unit(random, 7), 1.0));
  x.compress();
  const Eigen::MatrixXd dense = host.dense(x);
  FactoredMatrix y = x.copy();
  const Eigen::VectorXd rows = Eigen::VectorXd::LinSpaced(9, 0.5, 2);
  const Eigen::VectorXd cols = Eigen::VectorXd::LinSpaced(7, 3, 1);
  y.scale(host.vector(Side::left, rows), host.vector(Side::right, cols));
  y.compress();
  EXPECT_LT((host.dense(x) - dense).norm(), 1e-15);
  const Eigen::MatrixXd scaled = rows.asDiagonal() * dense * cols.asDiagonal();
  EXPECT_LT((host.dense(y) - scaled).norm(), 1e-13);
  EXPECT_NEAR(y.trace_norm_bound(), trace_norm(scaled), 1e-13);
  x.blend(0.75, y);
  EXPECT_LT((host.dense(x) - (0.25 * dense + 0.75 * scaled)).norm(), 1e-13);
}

TEST(FactoredMatrix, WhatIsDoneToOneOfManyCopiesIsDoneToItAlone) {
  Random random(7);
  Host host(11, 6);
  std::vector<FactoredMatrix> all;
  std::vector<Eigen::MatrixXd> dense(5, Eigen::MatrixXd::Zero(11, 6));
  for (std::size_t k = 0; k < dense.size(); ++k) all.emplace_back(host.panels);
  const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random.below(below)); };
  const Eigen::VectorXd rows = Eigen::VectorXd::LinSpaced(11, 0.8, 1.1);
  const Eigen::VectorXd cols = Eigen::VectorXd::LinSpaced(6, 1.1, 0.9);
  for (int step = 0; step < 3000; ++step) {
    const std::size_t k = any(all.size());
    const std::size_t other = any(all.size());
    FactoredMatrix& x = all[k];
    const double t = step % 7 == 0 ? 1.0 : 0.3;
    switch (any(8)) {
      case 0:
      case 1: {
        const Eigen::VectorXd u = unit(random, 11);
        const Eigen::VectorXd v = unit(random, 6);
        x.blend(t, host.atom(u, v, 2.0));
        dense[k] = (1 - t) * dense[k] + 2 * t * u * v.transpose();
        break;
      }
      case 2:
        if (k == other) break;
        x.blend(t, all[other]);
        dense[k] = (1 - t) * dense[k] + t * dense[other];
        break;
      case 3:
        x.compress();
        break;
      case 4:
        x.scale(host.vector(Side::left, rows), host.vector(Side::right, cols));
        dense[k] = rows.asDiagonal() * dense[k] * cols.asDiagonal();
        break;
      case 5: {
        ThinSvd thin(x.copy(), Symmetry::none);
        const Eigen::VectorXd u = unit(random, 11);
        for (int more = 0; more < 20; ++more) thin.blend(0.1, host.atom(u, unit(random, 6), 1.0));
        break;
      }
      case 6:  // what is left of it is shorter than its copies
        x.compress(0.2);
        dense[k] = host.dense(x);
        break;
      default:
        x = all[other].copy();
        dense[k] = dense[other];
    }
    if (x.terms() > 40) x.compress();
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_LT((host.dense(all[i]) - dense[i]).norm(), 1e-8) << i << " after step " << step << " to " << k;
    }
  }
}

TEST(FactoredMatrix, ACopyOfWhatIsLeftDoesNotHideACopyOfAll) {
  Random random(11);
  Host host(9, 7);
  const auto atom = [&] { return host.atom(unit(random, 9), unit(random, 7), 1); };
  FactoredMatrix x(host.panels);
  x.blend(1, atom());
  x.blend(0.1, atom());
  x.compress();
  const FactoredMatrix all = x.copy();
  const Eigen::MatrixXd dense = host.dense(all);
  x.compress(0.9);
  EXPECT_EQ(x.terms(), 1);
  const FactoredMatrix left = x.copy();
  x.blend(0.5, atom());
  EXPECT_EQ(host.dense(all), dense);
}

TEST(FactoredMatrix, AThinSvdOfACopyTurnsColumnsOfItsOwn) {
  Random random(8);
  Host host(20, 20);
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::symmetric}) {
    const auto atom = [&](double weight) {
      const Eigen::VectorXd u = unit(random, 20);
      return host.atom(u, symmetry == Symmetry::none ? unit(random, 20) : u, weight);
    };
    FactoredMatrix x(host.panels);
    for (int k = 0; k < 20; ++k) x.blend(1.0 / (k + 1), atom(k % 2 == 0 ? 1 : -1));
    x.compress(symmetry);
    const Eigen::MatrixXd dense = host.dense(x);
    ThinSvd thin(x.copy(), symmetry);
    EXPECT_EQ(host.dense(x), dense);
    // Bases without room for one more column, which are far wider than the rank: they are turned where they are.
    while (thin.rank() > 2) thin.drop(Eigen::VectorXd::Unit(thin.rank(), thin.rank() - 1), 1);
    thin.blend(0.1, atom(1));
    EXPECT_EQ(host.dense(x), dense);
  }
}

TEST(FactoredMatrix, ColumnsAreCopiedForCopiesThatAreStillThere) {
  Random random(9);
  Host host(9, 7);
  FactoredMatrix x(host.panels);
  for (int k = 0; k < 3; ++k) x.blend(0.4, host.atom(unit(random, 9), unit(random, 7), 1));
  const Panel ones = host.vector(Side::left, Eigen::VectorXd::Ones(9));
  const Panel others = host.vector(Side::right, Eigen::VectorXd::Ones(7));
  const auto place = [](const FactoredMatrix& matrix) { return matrix.left().data(); };
  const void* before = place(x);
  {
    FactoredMatrix y = x.copy();
    EXPECT_EQ(place(y), before);
    x.blend(0.1, host.atom(unit(random, 9), unit(random, 7), 1));  // beside what both see
    EXPECT_EQ(place(x), before);
    y.scale(ones, others);
    EXPECT_NE(place(y), before);
  }
  x.scale(ones, others);
  EXPECT_EQ(place(x), before);
  { const FactoredMatrix y = x.copy(); }
  x.blend(1, host.atom(unit(random, 9), unit(random, 7), 1));
  EXPECT_EQ(place(x), before);
}

TEST(FactoredMatrix, ColumnsWithoutAnOwnerMayBeThoseOfACopy) {
  Random random(10);
  Host host(9, 7);
  const auto borrowed = [](const Panel& panel) {
    return Panel(panel.side(), panel.use(), panel.rows(), panel.columns(), panel.data(), nullptr);
  };
  const Panel left = host.vector(Side::left, unit(random, 9));
  const Panel right = host.vector(Side::right, unit(random, 7));
  const FactoredMatrix x(host.panels, borrowed(left), Eigen::VectorXd::Ones(1), borrowed(right));
  const Eigen::MatrixXd dense = host.dense(x);
  FactoredMatrix y = x.copy();
  y.scale(host.vector(Side::left, Eigen::VectorXd::Constant(9, 2)),
          host.vector(Side::right, Eigen::VectorXd::Constant(7, 3)));
  EXPECT_EQ(host.dense(x), dense);
  EXPECT_LT((host.dense(y) - 6 * dense).norm(), 1e-14);
}

}  // namespace
}  // namespace tracenorm
