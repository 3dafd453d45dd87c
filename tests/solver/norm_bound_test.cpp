// Bounds of sigma_1 of a dual point against singular values of that very matrix.
#include "solver/norm_bound.hpp"

#include <gtest/gtest.h>

#include "solver/evaluator.hpp"
#include "support/dense_svd.hpp"
#include "support/evaluation.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

using test::make_evaluator;

TEST(NormBound, AProbabilisticBoundIsAboveTheNormToo) {
  Random random(21);
  const SparseObservations data = test::normal_entries(1500, 1200, 0.01, random);
  const Problem problem{data, losses::Absolute{}, NoPenalty{}, TraceNormBall{50}};
  const auto f = make_evaluator(problem);
  f->linearize(0.5, true);
  const double sigma = f->leading_atom({1e-10, 1000}).sigma;
  f->make_dual(Slopes::current);
  const SpectralBound loose = f->bound_norm(sigma, 0);
  EXPECT_EQ(loose.proof, SpectralBound::Proof::probabilistic);
  EXPECT_GT(loose.failure_probability, 0);
  EXPECT_GE(loose.value, sigma);
  EXPECT_LE(loose.value, 1.1 * sigma);
  const SpectralBound tight = f->bound_norm(sigma, 1e9);
  EXPECT_EQ(tight.proof, SpectralBound::Proof::cholesky);
  EXPECT_GE(tight.value, sigma);
  EXPECT_LE(tight.value, sigma * (1 + 2e-3));
}

TEST(NormBound, AFactorisationThatIsCheapProvesTheNorm) {
  Random random(22);
  const SparseObservations data = test::normal_entries(300, 200, 0.2, random);
  const Problem problem{data, losses::Absolute{}, NoPenalty{}, TraceNormBall{50}};
  const auto f = make_evaluator(problem);
  f->linearize(0.5, true);
  const double sigma = f->leading_atom({1e-10, 1000}).sigma;
  f->make_dual(Slopes::current);
  const SpectralBound cheap = f->bound_norm(sigma, 0);
  EXPECT_EQ(cheap.proof, SpectralBound::Proof::cholesky);
  EXPECT_EQ(cheap.failure_probability, 0);
  EXPECT_GE(cheap.value, sigma);
  EXPECT_LE(cheap.value, sigma * (1 + 2e-3));
  const SpectralBound exact = f->bound_norm(sigma, 1e9);
  EXPECT_EQ(exact.proof, SpectralBound::Proof::exact);
  EXPECT_GE(exact.value, sigma);
  EXPECT_LE(exact.value, sigma * (1 + 1e-5));
}

TEST(NormBound, RoundingOfAGramMatrixIsCovered) {
  // One column of equal slopes, whose square is a number of 48 bits: the sum of 5000 of them is rounded on its way, in
  // about half of these draws downward, while sigma_1^2 is known exactly.
  Random random(24);
  for (int trial = 0; trial < 50; ++trial) {
    constexpr Index rows = 5000;
    Entries entries;
    for (Index i = 0; i < rows; ++i) {
      entries.row.push_back(i);
      entries.col.push_back(0);
      entries.value.push_back(1);
    }
    const Real slope = Real(0.5 + 0.5 * random.uniform());
    const SparseObservations data = make_sparse(rows, 1, entries, std::vector<Real>(rows, slope));
    const Problem problem{data, losses::Absolute{}, NoPenalty{}, TraceNormBall{1}};
    const auto f = make_evaluator(problem);
    f->linearize(0.25, true);
    f->make_dual(Slopes::current);
    const SpectralBound bound = f->bound_norm(f->estimate_norm(Slopes::current), 1e9);
    EXPECT_EQ(bound.proof, SpectralBound::Proof::exact);
    const long double square = static_cast<long double>(slope) * static_cast<long double>(slope) * rows;
    const auto value = static_cast<long double>(bound.value);
    EXPECT_GE(value * value, square) << trial;
    EXPECT_LE(value * value, square * (1 + 1e-10L)) << trial;
  }
}

/// The dual point as it is written into a certificate: these slopes at the entries, 2 lambda X elsewhere.
Eigen::MatrixXd dual_matrix(const SparsePattern& pattern, const DualPoint& point) {
  Eigen::MatrixXd g = point.elsewhere.dense();
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      g(i, pattern.col()[e]) = double(point.slope[static_cast<std::size_t>(e)]);
    }
  }
  return g;
}

TEST(NormBound, WithALowRankPartItIsOfTheSlopesBeforeTheyWereRounded) {
  // What is multiplied at the entries are slopes less 2 lambda X, rounded to single precision: in about half of these
  // draws that has a smaller norm than the dual point.
  Random random(23);
  for (int trial = 0; trial < 20; ++trial) {
    const SparseObservations data = test::normal_entries(12, 9, 0.6, random);
    const Problem problem{data, losses::Squared{}, ComplementSquaredPenalty{0.7}, TraceNormBall{8}};
    const auto f = make_evaluator(problem);
    f->restart(
        LowRankMatrix(test::normal_matrix(12, 3, random), Eigen::VectorXd::Ones(3), test::normal_matrix(9, 3, random)));
    f->linearize(0.5, true);
    f->make_dual(Slopes::current);
    const Eigen::MatrixXd g = dual_matrix(data.pattern, f->dual_point());
    const double sigma = test::singular_values(g)[0];
    const SpectralBound bound = f->bound_norm(f->estimate_norm(Slopes::current), 1e9);
    EXPECT_EQ(bound.proof, SpectralBound::Proof::exact);
    EXPECT_GE(bound.value, sigma) << trial;
    EXPECT_LE(bound.value, sigma * (1 + 1e-5)) << trial;
  }
}

}  // namespace
}  // namespace tracenorm
