// Decompositions by products alone, next to a dense one, of columns as they come.
#include "solver/decomposition.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <limits>

#include "support/dense_svd.hpp"
#include "support/host_panels.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Decomposed {
  MatrixXd left;
  VectorXd values;
  MatrixXd right;
};

/// Of left * diag(values) * right'.
Decomposed decomposed(const MatrixXd& left, VectorXd values, const MatrixXd& right, int threads = 1) {
  test::Host host(static_cast<Index>(left.rows()), static_cast<Index>(right.rows()), threads);
  Panel u = host.panels.make(Side::left, Use::exact, static_cast<Index>(left.cols()));
  Panel v = host.panels.make(Side::right, Use::exact, static_cast<Index>(right.cols()));
  host.panels.upload(left, u);
  host.panels.upload(right, v);
  EXPECT_TRUE(decompose(host.panels, u, values, v));
  return {host.panels.download(u), values, host.panels.download(v)};
}

void expect_decomposition(const MatrixXd& left, const VectorXd& values, const MatrixXd& right) {
  const MatrixXd dense = left * values.asDiagonal() * right.transpose();
  const Decomposed found = decomposed(left, values, right);
  const auto terms = found.values.size();
  ASSERT_EQ(terms, std::min({left.rows(), left.cols(), right.rows()}));
  EXPECT_LE((found.left * found.values.asDiagonal() * found.right.transpose() - dense).norm(), 1e-13 * dense.norm());
  EXPECT_LE((found.left.transpose() * found.left - MatrixXd::Identity(terms, terms)).norm(), 1e-13);
  EXPECT_LE((found.right.transpose() * found.right - MatrixXd::Identity(terms, terms)).norm(), 1e-13);
  const VectorXd expected = test::singular_values(dense).head(terms);
  EXPECT_LE((found.values - expected).norm(), 1e-13 * expected.norm());
  for (Eigen::Index k = 1; k < terms; ++k) EXPECT_LE(found.values[k], found.values[k - 1]);
  EXPECT_GE(found.values.minCoeff(), 0);
}

TEST(Decomposition, OfColumnsOfAnyLengthsAndAngles) {
  Random random(3);
  const Eigen::Index width = 5;
  const MatrixXd whole = MatrixXd::Identity(width, width);
  MatrixXd long_and_short = whole;
  long_and_short.diagonal() << 1e6, 1, 1e-6, 3, 1e-9;
  MatrixXd dependent = whole;
  dependent.col(4) = whole.col(2) - whole.col(1);
  MatrixXd empty = whole;
  empty.col(1).setZero();
  std::vector<MatrixXd> turns{whole, long_and_short, dependent, empty};
  // Beyond what Cholesky factors can tell apart, before it, and where the second one is what counts.
  for (const double angle : {1e-3, 1e-6, 3e-8, 1e-9, 1e-12}) {
    MatrixXd nearly = whole;
    nearly.col(4) = angle * whole.col(4) + whole.col(2);
    turns.push_back(nearly);
    nearly = whole;  // and what comes after them must not lose digits
    nearly.col(0) = angle * whole.col(0) + whole.col(2);
    turns.push_back(nearly);
  }
  const VectorXd values = (VectorXd(width) << 2, -1, 0, 1e-3, 5).finished();
  for (const MatrixXd& turn : turns) {
    const MatrixXd left = test::normal_matrix(900, width, random) * turn;
    const MatrixXd right = test::normal_matrix(70, width, random) * turn;
    expect_decomposition(left, VectorXd::Ones(width), right);
    expect_decomposition(left, values, right);
  }
}

TEST(Decomposition, OfMoreColumnsThanRows) {
  Random random(4);
  for (const auto& [rows, cols] : {std::pair{4, 900}, {900, 4}, {3, 2}, {6, 6}}) {
    const MatrixXd left = test::normal_matrix(rows, 6, random);
    const MatrixXd right = test::normal_matrix(cols, 6, random);
    expect_decomposition(left, VectorXd::Ones(6), right);
  }
}

TEST(Decomposition, HasTheSameBitsOnAnyThreads) {
  Random random(5);
  const MatrixXd left = test::normal_matrix(9000, 40, random);
  const MatrixXd right = test::normal_matrix(3000, 40, random);
  const Decomposed one = decomposed(left, VectorXd::Ones(40), right, 1);
  const Decomposed three = decomposed(left, VectorXd::Ones(40), right, 3);
  EXPECT_EQ(one.left, three.left);
  EXPECT_EQ(one.values, three.values);
  EXPECT_EQ(one.right, three.right);
}

TEST(Decomposition, LeavesWhatIsNotFinite) {
  Random random(6);
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    test::Host host(9, 7);
    for (int place = 0; place < 3; ++place) {
      MatrixXd left = test::normal_matrix(9, 3, random);
      MatrixXd right = test::normal_matrix(7, 3, random);
      VectorXd values = VectorXd::Ones(3);
      (place == 0 ? left(8, 1) : place == 1 ? right(2, 2) : values[1]) = wrong;
      Panel u = host.panels.make(Side::left, Use::exact, 3);
      Panel v = host.panels.make(Side::right, Use::exact, 3);
      host.panels.upload(left, u);
      host.panels.upload(right, v);
      EXPECT_FALSE(decompose(host.panels, u, values, v));
      EXPECT_EQ(u.columns(), 3);
      EXPECT_EQ(host.panels.download(v).row(0), right.row(0));
    }
  }
}

}  // namespace
}  // namespace tracenorm
