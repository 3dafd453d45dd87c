// Ritz values of Lanczos runs against dense eigenvalues, and the theorem that makes bounds of them.
#include "solver/lanczos.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "linalg/spectral_bound.hpp"
#include "support/host_panels.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

using test::random_gram;

LanczosValue value_on_host(const Eigen::MatrixXd& g, const Eigen::VectorXd& start, int steps) {
  test::Host host(1, static_cast<Index>(g.rows()));
  Random random(5);
  return lanczos_value(
      host.panels, [&](const Panel& v, const Panel& out) { host.panels.upload(g * host.panels.download(v), out); },
      host.vector(Side::right, start), steps, random);
}

TEST(Lanczos, TheLanczosTheoremHoldsInPractice) {
  // The stated shortfall at probability 1/2 must be exceeded in at most half of the trials; it is a loose theorem, so
  // in fewer.
  Random random(9);
  const Eigen::MatrixXd g = random_gram(random, 80, 80);
  const double largest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(g).eigenvalues()[79];
  const int steps = 8;
  const double shortfall = lanczos_shortfall(80, steps, 0.5);
  ASSERT_LT(shortfall, 1);
  int exceeded = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Eigen::VectorXd start(80);
    for (Index j = 0; j < 80; ++j) start[j] = random.normal();
    const auto [value, made] = value_on_host(g, start, steps);
    EXPECT_EQ(made, steps);
    EXPECT_LE(value, largest * (1 + 2 * kLanczosRounding));
    if (value < (1 - shortfall) * largest) ++exceeded;
  }
  EXPECT_LE(exceeded, 100);
}

/// The largest Ritz value of the same Krylov space in double, by the eigenvalues of the projected matrix.
double krylov_value(const Eigen::MatrixXd& g, const Eigen::VectorXd& start, Eigen::Index steps) {
  Eigen::MatrixXd basis(g.rows(), steps);
  Eigen::VectorXd next = start;
  for (Eigen::Index j = 0; j < steps; ++j) {
    for (int pass = 0; pass < 3; ++pass) {
      for (Eigen::Index i = 0; i < j; ++i) next -= basis.col(i).dot(next) * basis.col(i);
    }
    basis.col(j) = next.normalized();
    next = g * basis.col(j);
  }
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(basis.transpose() * g * basis).eigenvalues()[steps - 1];
}

TEST(Lanczos, TheRitzValueInSinglePrecisionIsNotBelowTheOneInDouble) {
  Random random(10);
  constexpr Eigen::Index n = 150;
  const Eigen::MatrixXd gram = random_gram(random, n, n);
  const Eigen::MatrixXd q = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(gram).eigenvectors();
  for (const double decay : {0.0, 0.01, 0.2, 2.0}) {  // from all equal to one that stands out
    for (const double size : {1.0, 1e30, 1e-30}) {
      Eigen::VectorXd values(n);
      for (Eigen::Index i = 0; i < n; ++i) values[i] = size * std::exp(-decay * static_cast<double>(i));
      const Eigen::MatrixXd g = q * values.asDiagonal() * q.transpose();
      Eigen::VectorXd start(n);
      for (double& x : start) x = random.normal();
      for (const int steps : {5, 40, 120}) {
        const auto [value, made] = value_on_host(g, start, steps);
        const double exact = krylov_value(g, start, decay == 0 ? 1 : std::min(made, 20));
        EXPECT_GE(value, exact) << decay << ' ' << size << ' ' << steps;
        EXPECT_LE(value, size * (1 + 2 * kLanczosRounding)) << decay << ' ' << size << ' ' << steps;
      }
    }
  }
}

}  // namespace
}  // namespace tracenorm
