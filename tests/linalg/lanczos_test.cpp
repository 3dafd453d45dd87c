// Our Lanczos against a dense SVD and against Spectra, where leading pairs are hard to find.
#include "linalg/lanczos.hpp"

#include <gtest/gtest.h>

#include <Spectra/MatOp/DenseSymMatProd.h>
#include <Spectra/SymEigsSolver.h>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "linalg/block_krylov.hpp"

namespace tracenorm {
namespace {

Eigen::MatrixXd gaussian(Random& random, Eigen::Index rows, Eigen::Index cols) {
  Eigen::MatrixXd m(rows, cols);
  for (Eigen::Index j = 0; j < cols; ++j) {
    for (Eigen::Index i = 0; i < rows; ++i) m(i, j) = random.normal();
  }
  return m;
}

/// A matrix with given singular values.
Eigen::MatrixXd with_values(Random& random, Eigen::Index rows, Eigen::Index cols, const Eigen::VectorXd& values) {
  const auto orthonormal = [&](Eigen::Index n) -> Eigen::MatrixXd {
    return Eigen::HouseholderQR<Eigen::MatrixXd>(gaussian(random, n, values.size())).householderQ() *
           Eigen::MatrixXd::Identity(n, values.size());
  };
  return orthonormal(rows) * values.asDiagonal() * orthonormal(cols).transpose();
}

struct Case {
  std::string name;
  Eigen::MatrixXd matrix;
  bool spectra = true;  ///< whether Spectra can do it: it breaks down when the Krylov space has dimension one,
                        ///< and takes small entries for zero
};

std::vector<Case> hard_cases() {
  Random random(11);
  Eigen::VectorXd repeated(6);
  repeated << 3, 3, 3, 1, 0.5, 0.1;
  Eigen::VectorXd close(40);
  for (int i = 0; i < 40; ++i) close[i] = 1 - 0.002 * i;
  return {{"gaussian", gaussian(random, 40, 25)},
          {"repeated", with_values(random, 30, 20, repeated)},
          {"clustered", with_values(random, 60, 50, close)},
          {"rank_one", with_values(random, 30, 20, Eigen::VectorXd::Constant(1, 2.5)), false},
          {"zero", Eigen::MatrixXd::Zero(12, 9), false},
          {"tiny", 1e-35 * gaussian(random, 15, 10), false},
          {"huge", 1e35 * gaussian(random, 15, 10)},
          {"one_by_one", gaussian(random, 1, 1)},
          {"one_row", gaussian(random, 1, 300), false},
          {"one_column", gaussian(random, 300, 1)},
          {"flat", gaussian(random, 3, 500)},
          {"tall", gaussian(random, 500, 3)},
          {"identity", Eigen::MatrixXd::Identity(33, 33), false}};
}

class HardCase : public testing::TestWithParam<Case> {};

TEST_P(HardCase, LeadingValueMatchesADenseSvdAndSpectra) {
  const Eigen::MatrixXd& m = GetParam().matrix;
  const double sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(m).singularValues()[0];
  Random random(5);
  Eigen::VectorXd v(m.cols());
  for (Eigen::Index j = 0; j < v.size(); ++j) v[j] = random.normal();
  LanczosWorkspace work;
  const LanczosResult result = lanczos_leading(
      [&](const auto& in, Eigen::VectorXd& out) { out.noalias() = m.transpose() * (m * in); }, v, 1e-10, 2000, work);
  EXPECT_NEAR(std::sqrt(std::max(0.0, result.eigenvalue)), sigma, 1e-9 * sigma);
  EXPECT_LE(result.residual, 1e-10 * result.eigenvalue + 1e-300);
  v.normalize();
  EXPECT_NEAR((m * v).norm(), sigma, 1e-6 * sigma);  // the vector is a leading one, not only the value
  if (GetParam().spectra && m.cols() >= 4) {
    const Eigen::MatrixXd normal = m.transpose() * m;
    Spectra::DenseSymMatProd<double> product(normal);
    Spectra::SymEigsSolver<Spectra::DenseSymMatProd<double>> spectra(product, 1, std::min<int>(20, int(m.cols())));
    spectra.init();
    ASSERT_EQ(spectra.compute(Spectra::SortRule::LargestAlge, 2000, 1e-10), 1);
    EXPECT_NEAR(result.eigenvalue, spectra.eigenvalues()[0], 1e-7 * sigma * sigma);
  }
}

TEST_P(HardCase, AWarmStartNeverReturnsALargerValueThanThereIs) {
  const Eigen::MatrixXd& m = GetParam().matrix;
  const double sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(m).singularValues()[0];
  Eigen::VectorXd v = Eigen::VectorXd::Ones(m.cols());
  LanczosWorkspace work;
  for (const int products : {1, 2, 5}) {
    const LanczosResult result =
        lanczos_leading([&](const auto& in, Eigen::VectorXd& out) { out.noalias() = m.transpose() * (m * in); }, v,
                        1e-12, products, work);
    EXPECT_LE(std::sqrt(std::max(0.0, result.eigenvalue)), sigma * (1 + 1e-12));
    EXPECT_LE(result.products, products);
  }
}

TEST_P(HardCase, BlocksInRealMatchADenseSvdToAFewDigits) {
  const Eigen::MatrixXd& m = GetParam().matrix;
  const double sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(m).singularValues()[0];
  const double size = sigma > 0 ? m.norm() : 1.0;
  const RealBlock real = (m / size).cast<Real>();
  const double rounding = 100 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  Random random(6);
  for (const Eigen::Index width : {1, 4}) {
    BlockKrylov krylov;
    RealBlock start(m.cols(), width);
    for (Real& x : start.reshaped()) x = Real(random.spread());
    ASSERT_TRUE(detail::orthonormalize(start));
    const auto apply = [&](int, const RealBlock& q, RealBlock& out) { out = real.transpose() * (real * q); };
    for (const int most : {1, 3, 400}) {  // each goes on from where the last one ended
      const KrylovResult found = krylov.leading(apply, start, 1e-4, most);
      EXPECT_LE(found.applications, most);
      EXPECT_LE(size * std::sqrt(std::max(0.0, found.eigenvalue)), sigma * (1 + rounding));
      if (most == 400) {
        EXPECT_GE(size * std::sqrt(std::max(0.0, found.eigenvalue)), sigma * (1 - 1e-4));
      }
      Eigen::VectorXd v = Eigen::VectorXd::Zero(m.cols());
      for (int j = 0; j < found.blocks; ++j) {
        v += krylov.block(j).cast<double>() * found.weights.segment(j * width, width);
      }
      if (sigma > 0) {
        EXPECT_NEAR((m / size * v.normalized()).norm(), std::sqrt(std::max(0.0, found.eigenvalue)), rounding);
      }
      detail::orthonormalize(start);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HardCase, testing::ValuesIn(hard_cases()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace tracenorm
