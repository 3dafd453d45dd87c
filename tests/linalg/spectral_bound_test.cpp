#include "linalg/spectral_bound.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "base/random.hpp"
#include "linalg/lanczos.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {
namespace {

Eigen::MatrixXd random_gram(Random& random, Index n, Index inner) {
  Eigen::MatrixXd m(inner, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < inner; ++i) m(i, j) = random.normal();
  }
  return m.transpose() * m;
}

TEST(SpectralBound, ExactAndCholeskyAreAboveTheLargestEigenvalueAndClose) {
  Random random(2);
  for (const Index n : {1, 2, 17, 60}) {
    const Eigen::MatrixXd g = random_gram(random, n, 40);
    const double largest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(g).eigenvalues()[n - 1];
    EXPECT_GE(largest_eigenvalue_bound(g), largest);
    EXPECT_LE(largest_eigenvalue_bound(g), largest * (1 + 1e-11));
    EXPECT_GE(cholesky_bound(g, largest), largest);
    EXPECT_LE(cholesky_bound(g, largest), largest * (1 + 2e-7));
    // An estimate that is too small is raised until the factorisation succeeds.
    EXPECT_GE(cholesky_bound(g, largest * 0.999), largest);
    EXPECT_GE(cholesky_bound(g, largest * 0.95), largest);
    EXPECT_TRUE(std::isinf(cholesky_bound(g, largest * 0.5)));
  }
}

TEST(SpectralBound, TheLanczosTheoremHoldsInPractice) {
  // The stated shortfall at probability 1/2 must be exceeded in at most half of the trials; it is a loose theorem, so
  // in fewer.
  Random random(9);
  const Eigen::MatrixXd g = random_gram(random, 80, 80);
  const double largest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(g).eigenvalues()[79];
  const int steps = 8;
  const double shortfall = lanczos_shortfall(80, steps, 0.5);
  ASSERT_LT(shortfall, 1);
  int exceeded = 0;
  LanczosValueWorkspace work;
  for (int trial = 0; trial < 200; ++trial) {
    Eigen::VectorXd start(80);
    for (Index j = 0; j < 80; ++j) start[j] = random.normal();
    int products = 0;
    const double value = lanczos_value([&](const auto& in, Eigen::VectorXd& out) { out.noalias() = g * in; }, start,
                                       steps, work, &products);
    EXPECT_EQ(products, steps);
    EXPECT_LE(value, largest * (1 + 2 * kLanczosValueRounding));
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

TEST(SpectralBound, TheRitzValueInSinglePrecisionIsNotBelowTheOneInDouble) {
  Random random(10);
  constexpr Eigen::Index n = 150;
  const Eigen::MatrixXd gram = random_gram(random, n, n);
  const Eigen::MatrixXd q = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(gram).eigenvectors();
  LanczosValueWorkspace work;
  for (const double decay : {0.0, 0.01, 0.2, 2.0}) {  // from all equal to one that stands out
    for (const double size : {1.0, 1e30, 1e-30}) {
      Eigen::VectorXd values(n);
      for (Eigen::Index i = 0; i < n; ++i) values[i] = size * std::exp(-decay * static_cast<double>(i));
      const Eigen::MatrixXd g = q * values.asDiagonal() * q.transpose();
      Eigen::VectorXd start(n);
      for (double& x : start) x = random.normal();
      for (const int steps : {5, 40, 120}) {
        int products = 0;
        const double value = lanczos_value([&](const auto& in, Eigen::VectorXd& out) { out.noalias() = g * in; }, start,
                                           steps, work, &products);
        const double exact = krylov_value(g, start, decay == 0 ? 1 : std::min(products, 20));
        EXPECT_GE(value, exact) << decay << ' ' << size << ' ' << steps;
        EXPECT_LE(value, size * (1 + 2 * kLanczosValueRounding)) << decay << ' ' << size << ' ' << steps;
      }
    }
  }
}

TEST(SpectralBound, MoreStepsSayMore) {
  EXPECT_GT(lanczos_shortfall(1000, 10, 1e-9), 1);  // too few to say anything
  EXPECT_LT(lanczos_shortfall(1000, 400, 1e-9), 0.002);
  EXPECT_LT(lanczos_shortfall(1000, 200, 1e-6), lanczos_shortfall(1000, 200, 1e-9));
}

}  // namespace
}  // namespace tracenorm
