// Block Krylov searches against a dense SVD and against Spectra, where leading pairs are hard to find.
#include "solver/block_krylov.hpp"

#include <gtest/gtest.h>

#include <Spectra/MatOp/DenseSymMatProd.h>
#include <Spectra/SymEigsSolver.h>
#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "cpu/panels.hpp"
#include "support/dense_svd.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

using test::normal_matrix;

/// A matrix with given singular values.
Eigen::MatrixXd with_values(Random& random, Eigen::Index rows, Eigen::Index cols, const Eigen::VectorXd& values) {
  const auto orthonormal = [&](Eigen::Index n) -> Eigen::MatrixXd {
    return Eigen::HouseholderQR<Eigen::MatrixXd>(normal_matrix(n, values.size(), random)).householderQ() *
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
  return {{"gaussian", normal_matrix(40, 25, random)},
          {"repeated", with_values(random, 30, 20, repeated)},
          {"clustered", with_values(random, 60, 50, close)},
          {"rank_one", with_values(random, 30, 20, Eigen::VectorXd::Constant(1, 2.5)), false},
          {"zero", Eigen::MatrixXd::Zero(12, 9), false},
          {"tiny", 1e-35 * normal_matrix(15, 10, random), false},
          {"huge", 1e35 * normal_matrix(15, 10, random)},
          {"one_by_one", normal_matrix(1, 1, random)},
          {"one_row", normal_matrix(1, 300, random), false},
          {"one_column", normal_matrix(300, 1, random)},
          {"flat", normal_matrix(3, 500, random)},
          {"tall", normal_matrix(500, 3, random)},
          {"identity", Eigen::MatrixXd::Identity(33, 33), false}};
}

class HardCase : public testing::TestWithParam<Case> {};

TEST_P(HardCase, InDoubleMatchesADenseSvdAndSpectra) {
  const Eigen::MatrixXd& m = GetParam().matrix;
  const double sigma = test::singular_values(m)[0];
  const double size = sigma > 0 ? m.norm() : 1.0;  // searches are given matrices of about unit size
  const auto apply = [&](const Eigen::VectorXd& in, Eigen::VectorXd& out) {
    out.noalias() = (m / size).transpose() * ((m / size) * in);
  };
  Random random(5);
  Eigen::VectorXd v = normal_matrix(m.cols(), 1, random);
  const double eigenvalue = leading_eigenvector(apply, v, 1e-10, 2000);
  EXPECT_NEAR(size * std::sqrt(std::max(0.0, eigenvalue)), sigma, 1e-9 * sigma);
  if (sigma > 0) {
    EXPECT_NEAR((m * v).norm(), sigma * v.norm(), 1e-6 * sigma);  // the vector is a leading one, not only the value
  }
  for (const int products : {1, 2, 5}) {  // a short search never says more than there is
    Eigen::VectorXd ones = Eigen::VectorXd::Ones(m.cols());
    EXPECT_LE(size * std::sqrt(std::max(0.0, leading_eigenvector(apply, ones, 1e-12, products))), sigma * (1 + 1e-12));
  }
  if (GetParam().spectra && m.cols() >= 4) {
    const Eigen::MatrixXd normal = m.transpose() * m;
    Spectra::DenseSymMatProd<double> product(normal);
    Spectra::SymEigsSolver<Spectra::DenseSymMatProd<double>> spectra(product, 1, std::min<int>(20, int(m.cols())));
    spectra.init();
    ASSERT_EQ(spectra.compute(Spectra::SortRule::LargestAlge, 2000, 1e-10), 1);
    EXPECT_NEAR(size * size * eigenvalue, spectra.eigenvalues()[0], 1e-7 * sigma * sigma);
  }
}

TEST_P(HardCase, BlocksInRealMatchADenseSvdToAFewDigits) {
  const Eigen::MatrixXd& m = GetParam().matrix;
  const double sigma = test::singular_values(m)[0];
  const double size = sigma > 0 ? m.norm() : 1.0;
  const double rounding = 100 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  Random random(6);
  const Execution execution(1);
  cpu::CpuPanels panels(static_cast<Index>(m.cols()), {}, Shards({{0, static_cast<Index>(m.rows())}}), execution);
  for (const Index width : {1, 4}) {
    BlockKrylov krylov(panels, Use::search, width, 8);
    const Panel start = panels.make(Side::right, Use::search, width);
    panels.draw(1, random, start);
    ASSERT_TRUE(orthonormalize(panels, start));
    const auto apply = [&](int, const Panel& q, const Panel& out) {
      panels.upload((m / size).transpose() * ((m / size) * panels.download(q)), out);
    };
    const Panel combined = panels.make(Side::right, Use::exact, 1);
    for (const int most : {1, 3, 400}) {  // each goes on from where the last one ended
      const KrylovResult found = krylov.leading(apply, start, 1e-4, most);
      EXPECT_LE(found.applications, most);
      EXPECT_LE(size * std::sqrt(std::max(0.0, found.eigenvalue)), sigma * (1 + rounding));
      if (most == 400) {
        EXPECT_GE(size * std::sqrt(std::max(0.0, found.eigenvalue)), sigma * (1 - 1e-4));
      }
      panels.combine(0, krylov.basis(found.blocks), found.weights, combined);
      const Eigen::VectorXd v = panels.download(combined);
      if (sigma > 0) {
        EXPECT_NEAR((m / size * v.normalized()).norm(), std::sqrt(std::max(0.0, found.eigenvalue)), rounding);
      }
      orthonormalize(panels, start);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HardCase, testing::ValuesIn(hard_cases()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace tracenorm
