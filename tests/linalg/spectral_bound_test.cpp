#include "linalg/spectral_bound.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "support/random_matrices.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {
namespace {

using test::random_gram;

TEST(SpectralBound, ExactAndCholeskyAreAboveTheLargestEigenvalueAndClose) {
  Random random(2);
  for (const Index n : {1, 2, 17, 60}) {
    const Eigen::MatrixXd g = random_gram(random, n, 40);
    const double largest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(g).eigenvalues()[n - 1];
    EXPECT_GE(largest_eigenvalue_bound(g), largest);
    EXPECT_LE(largest_eigenvalue_bound(g), largest * (1 + 1e-11));
    EXPECT_GE(cholesky_bound(g, largest, 1e-7), largest);
    EXPECT_LE(cholesky_bound(g, largest, 1e-7), largest * (1 + 2e-7));
    // An estimate that is too small is raised until the factorisation succeeds.
    for (const double share : {0.999, 0.95, 0.5, 0.0}) EXPECT_GE(cholesky_bound(g, largest * share, 1e-7), largest);
  }
}

TEST(SpectralBound, AFactorisationThatOnlyRoundingLetsPassProvesNoLess) {
  // Sums of one vector of whole numbers: the largest eigenvalue is known exactly, and a little below it a factorisation
  // still comes to its end now and then, because of rounding. What it proves must not be less than the truth.
  int passed = 0;
  for (const Index n : {2, 5, 20, 100, 300}) {
    Eigen::VectorXd v(n);
    for (Index i = 0; i < n; ++i) v[i] = i % 7 + 1;
    const Eigen::MatrixXd g = v * v.transpose();
    const double largest = v.squaredNorm();
    for (int below = 0; below < 200; ++below) {
      const double estimate = largest * (1 - below * 1e-17 * n);
      const double bound = cholesky_bound(g, estimate, 0);
      EXPECT_GE(bound, largest) << n << " " << below;
      passed += estimate < largest && bound < largest * (1 + 1e-9) ? 1 : 0;
    }
  }
  EXPECT_GT(passed, 0);  // so the test was about something
}

TEST(SpectralBound, EitherEndOfASymmetricMatrixIsBoundedInItsOwnRoom) {
  Random random(3);
  for (const Index n : {1, 2, 31, 32, 33, 70}) {
    const Eigen::MatrixXd square = random_gram(random, n, 40) - 20 * Eigen::MatrixXd::Identity(n, n);
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(square).eigenvalues();
    Eigen::MatrixXd lower = square;
    lower.triangularView<Eigen::StrictlyUpper>().setConstant(std::numeric_limits<double>::quiet_NaN());
    for (const double sign : {1.0, -1.0}) {
      const double largest = std::max(0.0, sign > 0 ? values[n - 1] : -values[0]);
      for (const double share : {1.0, 0.95, 0.0}) {  // raised until the factorisation succeeds
        EXPECT_GE(one_sided_bound(lower, sign, share * largest, 1e-7), largest) << n << " " << sign << " " << share;
      }
      EXPECT_LE(one_sided_bound(lower, sign, largest, 1e-7), largest * (1 + 2e-7) + 1e-9) << n << " " << sign;
      EXPECT_TRUE(lower.triangularView<Eigen::Lower>().toDenseMatrix() ==
                  square.triangularView<Eigen::Lower>().toDenseMatrix());
    }
  }
}

TEST(SpectralBound, NumbersThatAreNotFiniteProveNothing) {
  Eigen::MatrixXd g = Eigen::MatrixXd::Identity(3, 3);
  g(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(cholesky_bound(g, 1, 1e-7)));
  EXPECT_TRUE(std::isinf(largest_eigenvalue_bound(g)));
}

TEST(SpectralBound, MoreStepsSayMore) {
  EXPECT_GT(lanczos_shortfall(1000, 10, 1e-9), 1);  // too few to say anything
  EXPECT_LT(lanczos_shortfall(1000, 400, 1e-9), 0.002);
  EXPECT_LT(lanczos_shortfall(1000, 200, 1e-6), lanczos_shortfall(1000, 200, 1e-9));
}

}  // namespace
}  // namespace tracenorm
