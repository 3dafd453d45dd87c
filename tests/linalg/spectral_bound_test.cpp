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
    EXPECT_GE(cholesky_bound(g, largest), largest);
    EXPECT_LE(cholesky_bound(g, largest), largest * (1 + 2e-7));
    // An estimate that is too small is raised until the factorisation succeeds.
    EXPECT_GE(cholesky_bound(g, largest * 0.999), largest);
    EXPECT_GE(cholesky_bound(g, largest * 0.95), largest);
    EXPECT_TRUE(std::isinf(cholesky_bound(g, largest * 0.5)));
  }
}

TEST(SpectralBound, MoreStepsSayMore) {
  EXPECT_GT(lanczos_shortfall(1000, 10, 1e-9), 1);  // too few to say anything
  EXPECT_LT(lanczos_shortfall(1000, 400, 1e-9), 0.002);
  EXPECT_LT(lanczos_shortfall(1000, 200, 1e-6), lanczos_shortfall(1000, 200, 1e-9));
}

}  // namespace
}  // namespace tracenorm
