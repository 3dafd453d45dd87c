// Symmetric and semidefinite problems: against closed forms, against each other, and exactly symmetric.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <optional>

#include "base/random.hpp"
#include "model/coded_data.hpp"
#include "solver/norm_bound.hpp"
#include "support/identifier.hpp"
#include "support/optima.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/solve.hpp"
#include "tracenorm/sparse_estimate.hpp"
#include "tracenorm/verify.hpp"

namespace tracenorm {
namespace {

Eigen::MatrixXd low_rank_symmetric(Index n, Index rank, Random& random) {
  Eigen::MatrixXd u(n, rank);
  Eigen::VectorXd w(rank);
  for (double& x : u.reshaped()) x = random.normal();
  for (Index k = 0; k < rank; ++k) w[k] = k % 2 == 0 ? 1.5 : -0.8;
  Eigen::MatrixXd x = u * w.asDiagonal() * u.transpose() / rank;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      x(i, j) += 0.2 * random.normal() + (random.uniform() < 0.05 ? 5.0 : 0.0);
      x(j, i) = x(i, j);
    }
  }
  return x;
}

std::size_t at(Index i, Index j, Index n) {
  return static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j);
}

DenseObservations dense(const Eigen::MatrixXd& x, double share, Random& random) {
  const auto n = static_cast<Index>(x.rows());
  std::vector<Real> value(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const Real y = random.uniform() < share ? Real(x(i, j)) : std::numeric_limits<Real>::quiet_NaN();
      value[at(i, j, n)] = value[at(j, i, n)] = y;
    }
  }
  return {n, n, std::move(value), {}};
}

Eigen::MatrixXd matrix(const DenseObservations& data) {
  const Array<Real> value = data.value.plain();
  using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(value.data(), data.rows, data.cols).cast<double>();
}

SparseObservations sparse(const DenseObservations& data) {
  Entries entries;
  for (Index i = 0; i < data.rows; ++i) {
    for (Index j = 0; j < data.cols; ++j) {
      const Real y = data.value[at(i, j, data.cols)];
      if (std::isnan(y)) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(y);
    }
  }
  return make_sparse(data.rows, data.cols, entries);
}

void expect_exact(const LowRankMatrix& x, Symmetry symmetry) {
  for (Index k = 0; k < x.terms(); ++k) {
    EXPECT_GT(x.values()[k], 0);
    const Eigen::VectorXd left = x.left().col(k);
    const Eigen::VectorXd right = x.right().col(k);
    const bool same = left == right;
    const bool opposite = left == -right;
    EXPECT_TRUE(same || (symmetry == Symmetry::symmetric && opposite)) << "term " << k;
  }
}

/// The least 0.5 |X - Y|^2 over X >= 0, trace X <= radius: eigenvalues are projected.
double projection_distance(const Eigen::MatrixXd& y, double radius) {
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(y).eigenvalues();
  double low = 0;
  double high = values.cwiseAbs().maxCoeff();
  const auto sum = [&](double t) { return (values.array() - t).max(0).sum(); };
  if (sum(0) > radius) {
    for (int step = 0; step < 200; ++step) (sum((low + high) / 2) > radius ? low : high) = (low + high) / 2;
  } else {
    high = 0;
  }
  return 0.5 * (values.array() - (values.array() - high).max(0)).square().sum();
}

RunOptions limits(int iterations, std::optional<double> gap = {}, int threads = 0) {
  RunOptions run;
  run.iterations = iterations;
  run.gap = gap;
  run.threads = threads;
  return run;
}

std::vector<Method> methods_under_test() { return {methods::FrankWolfe{}, methods::RankDrop{}, methods::Corrective{}}; }

/// Against the optima of a cone solver.
class Cone : public testing::TestWithParam<test::SolvedProblem> {};

void expect_bracketed(const test::SolvedProblem& solved, const Result& result) {
  const double size = std::max(1.0, std::abs(solved.optimum));
  for (const Iteration& iteration : result.trace) {
    ASSERT_LE(iteration.lower_bound, solved.optimum + 1e-9 * size) << "at iteration " << iteration.k;
  }
  EXPECT_LE(result.lower_bound, solved.optimum + 1e-9 * size);
  EXPECT_GE(result.objective, solved.optimum - solved.accuracy - 1e-9 * size);
  expect_exact(result.solution, Symmetry::semidefinite);
}

TEST_P(Cone, CorrectiveCertifiesTheOptimum) {
  const Result result = solve(GetParam().problem, methods::Corrective{}, limits(500, 1e-4));
  expect_bracketed(GetParam(), result);
  EXPECT_LE(result.relative_gap, 1e-4);
}

TEST_P(Cone, FrankWolfeComesNear) {
  for (const Method& method : {Method(methods::FrankWolfe{}), Method(methods::RankDrop{})}) {
    const Result result = solve(GetParam().problem, method, limits(1500));
    expect_bracketed(GetParam(), result);
    EXPECT_LE(result.objective, GetParam().optimum * 1.02) << method_name(method);
  }
}

INSTANTIATE_TEST_SUITE_P(ConeSolver, Cone, testing::ValuesIn(test::semidefinite_problems()),
                         [](const auto& one) { return test::identifier(one.param.name); });

TEST(Symmetric, ProjectionOntoTheCone) {
  Random random(5);
  for (const Index n : {7, 40, 90}) {
    const Eigen::MatrixXd x = low_rank_symmetric(n, 4, random);
    const DenseObservations data = dense(x, 1.1, random);
    const Eigen::MatrixXd y = matrix(data);
    const double trace = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(y).eigenvalues().cwiseMax(0).sum();
    for (const double radius : {0.3 * trace, 1.5 * trace}) {
      const Problem problem{data, losses::Squared{0.5}, NoPenalty{},
                            TraceNormBall{radius, {}, {}, Symmetry::semidefinite}};
      const double optimum = projection_distance(y, radius);
      for (const Method& method : methods_under_test()) {
        const bool corrective = std::holds_alternative<methods::Corrective>(method);
        const Result result = solve(problem, method, limits(corrective ? 200 : 400, 1e-4));
        EXPECT_GE(result.objective, optimum * (1 - 1e-9)) << method_name(method) << n << " " << radius;
        EXPECT_LE(result.lower_bound, optimum * (1 + 1e-9)) << method_name(method) << n << " " << radius;
        // Where the radius does not bind, little is left of what there was: entries in Real are rounded to 1e-7 of it,
        // and without fused multiply-adds a gap of 2.1e-7 of it was left.
        const double tolerance =
            corrective ? 2e-4 * optimum + 4e-7 * y.squaredNorm() : 0.1 * optimum + 1e-3 * y.squaredNorm();
        EXPECT_LE(result.objective, optimum + tolerance) << method_name(method) << n << " " << radius;
        if (corrective) {
          EXPECT_LE(result.objective - result.lower_bound, tolerance) << n << " " << radius;
        }
        EXPECT_LE(result.trace_norm, radius);
        expect_exact(result.solution, Symmetry::semidefinite);
      }
    }
  }
}

TEST(Symmetric, BoundsAndAnswersAgree) {
  Random random(11);
  for (const bool as_sparse : {false, true}) {
    for (const char* penalty : {"none", "l1:0.05", "complement-squared:0.01"}) {
      for (const Index n : {12, 75}) {
        const DenseObservations data = dense(low_rank_symmetric(n, 5, random), 0.6, random);
        Problem problem{data, losses::Absolute{}, parse_penalty(penalty), TraceNormBall{1.2 * n}};
        if (as_sparse) problem.observations = sparse(data);
        const RunOptions run = limits(150, 1e-4);
        const Result any = solve(problem, methods::Corrective{}, run);
        for (const Method& method : methods_under_test()) {
          const std::string what = method_name(method) + penalty + std::to_string(n) + (as_sparse ? "sparse" : "");
          problem.constraint.symmetry = Symmetry::symmetric;
          const Result result = solve(problem, method, run);
          // The mean of a matrix with its transpose is no worse: the optimum is the same.
          EXPECT_LE(result.lower_bound, any.objective) << what;
          EXPECT_LE(any.lower_bound, result.objective) << what;
          expect_exact(result.solution, Symmetry::symmetric);
          problem.constraint.symmetry = Symmetry::semidefinite;
          const Result cone = solve(problem, method, run);
          EXPECT_LE(any.lower_bound, cone.objective) << what;
          EXPECT_LE(cone.lower_bound, cone.objective) << what;
          expect_exact(cone.solution, Symmetry::semidefinite);
          if (std::holds_alternative<methods::Corrective>(method)) {
            EXPECT_LE(result.relative_gap, 1e-4) << what;
            EXPECT_LE(cone.relative_gap, 1e-4) << what;
          }
          problem.constraint.symmetry = Symmetry::none;
        }
      }
    }
  }
}

TEST(Symmetric, DataInBytesGiveTheSameBits) {
  Random random(5);
  DenseObservations data = dense(low_rank_symmetric(40, 3, random), 0.7, random);
  std::vector<Real> value(data.value.begin(), data.value.end());
  for (Real& y : value) y = std::isnan(y) ? y : Real(y > 0 ? 1 : 0);
  data.value = value;
  DenseObservations coded = data;
  coded.value = coded_where_possible(data.value);
  ASSERT_FALSE(coded.value.code().empty());
  for (const char* penalty : {"none", "l1:0.05", "complement-squared:0.1"}) {
    for (const Symmetry symmetry : {Symmetry::none, Symmetry::symmetric, Symmetry::semidefinite}) {
      for (const Method& method : methods_under_test()) {
        Problem problem{data, losses::Absolute{}, parse_penalty(penalty), TraceNormBall{15, {}, {}, symmetry}};
        const Result plain = solve(problem, method, limits(20));
        problem.observations = coded;
        const Result bytes = solve(problem, method, limits(20));
        EXPECT_EQ(plain.objective, bytes.objective) << penalty << method_name(method);
        EXPECT_EQ(plain.lower_bound, bytes.lower_bound) << penalty << method_name(method);
        EXPECT_EQ(plain.solution.values(), bytes.solution.values()) << penalty << method_name(method);
      }
    }
  }
}

TEST(Symmetric, EveryProofHolds) {
  Random random(3);
  const DenseObservations data = dense(low_rank_symmetric(70, 5, random), 0.7, random);
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::semidefinite}) {
    const Problem problem{data, losses::Absolute{}, NoPenalty{}, TraceNormBall{60, {}, {}, symmetry}};
    const double best = solve(problem, methods::Corrective{}, limits(300, 1e-5)).objective;
    for (const auto proof :
         {SpectralBound::Proof::exact, SpectralBound::Proof::cholesky, SpectralBound::Proof::probabilistic}) {
      force_proof(proof);
      const Result result = solve(problem, methods::Corrective{}, limits(300, 1e-3));
      force_proof(std::nullopt);
      EXPECT_EQ(result.certificate.proof, proof);
      EXPECT_EQ(result.certificate.failure_probability > 0, proof == SpectralBound::Proof::probabilistic);
      EXPECT_LE(result.lower_bound, best);
      const bool certain = proof != SpectralBound::Proof::probabilistic;  // which says little in so few dimensions
      EXPECT_LE(result.relative_gap, certain ? 1e-3 : 0.05);
    }
  }
}

TEST(Symmetric, TheSameBitsOnAnyNumberOfThreads) {
  Random random(8);
  const DenseObservations data = dense(low_rank_symmetric(300, 5, random), 0.7, random);
  for (const Method& method : methods_under_test()) {
    const Problem problem{data, losses::Absolute{}, L1Penalty{0.02}, TraceNormBall{300, {}, {}, Symmetry::symmetric}};
    const Result one = solve(problem, method, limits(8, {}, 1));
    const Result three = solve(problem, method, limits(8, {}, 3));
    EXPECT_EQ(one.objective, three.objective);
    EXPECT_EQ(one.lower_bound, three.lower_bound);
    EXPECT_EQ(Eigen::MatrixXd(one.solution.left()), Eigen::MatrixXd(three.solution.left()));
  }
}

TEST(Symmetric, WeightsOfTheNorm) {
  Random random(21);
  const DenseObservations data = dense(low_rank_symmetric(50, 4, random), 0.5, random);
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::semidefinite}) {
    Problem problem{data, losses::Huber{0.5}, NoPenalty{}, weighted_ball(50, {0.5, 0.5}, data)};
    const Result any = solve(problem, methods::Corrective{}, limits(150, 1e-4));
    problem.constraint.symmetry = symmetry;
    const Result result = solve(problem, methods::Corrective{}, limits(150, 1e-4));
    EXPECT_LE(result.relative_gap, 1e-4);
    EXPECT_LE(any.lower_bound, result.objective);
    if (symmetry == Symmetry::symmetric) {
      EXPECT_LE(result.lower_bound, any.objective);
    }
    expect_exact(result.solution, symmetry);
  }
}

TEST(Symmetric, ZerosAreThoseOfTheOptimum) {
  // A radius that does not bind leaves soft thresholding: |Y| <= lambda is where the optimum is zero.
  Random random(31);
  const Index n = 60;
  const double lambda = 0.6;
  Eigen::MatrixXd x = low_rank_symmetric(n, 3, random);
  x.diagonal().array() += 1;
  const DenseObservations data = dense(x, 1.1, random);
  const Eigen::MatrixXd y = matrix(data);
  const Eigen::MatrixXd soft =
      y.unaryExpr([&](double v) { return std::copysign(std::max(0.0, std::abs(v) - lambda), v); });
  const double norm = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(soft).eigenvalues().cwiseAbs().sum();
  const Problem problem{data, losses::Squared{0.5}, L1Penalty{lambda},
                        TraceNormBall{1.05 * norm, {}, {}, Symmetry::symmetric}};
  RunOptions run = limits(400, 1e-4);
  run.keep_dual = true;
  const Result result = solve(problem, methods::Corrective{}, run);
  const SparseEstimate found = sparse_estimate(problem, result);
  Offset zeros = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      EXPECT_EQ(found.x(i, j), found.x(j, i));
      if (found.x(i, j) == 0) ++zeros;
      if (std::abs(std::abs(y(i, j)) - lambda) < 0.03) continue;  // too near to say
      EXPECT_EQ(found.x(i, j) == 0, soft(i, j) == 0) << i << " " << j << " " << y(i, j);
    }
  }
  EXPECT_EQ(zeros, found.zeros);
  EXPECT_GT(zeros, n * n / 4);
  EXPECT_LE(found.proved, found.zeros);
  EXPECT_NEAR(found.objective, result.objective, 0.01 * result.objective);
}

TEST(Symmetric, SparseEstimatesOverTheConeAreSemidefinite) {
  Random random(33);
  const Index n = 40;
  const DenseObservations data = dense(low_rank_symmetric(n, 3, random), 1.1, random);
  Problem problem{data, losses::Huber{0.5}, L1Penalty{0.1}, TraceNormBall{40, {}, {}, Symmetry::semidefinite}};
  RunOptions run = limits(200, 1e-3);
  run.keep_dual = true;
  const Result result = solve(problem, methods::Corrective{}, run);
  const SparseEstimate found = sparse_estimate(problem, result);
  EXPECT_GE(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(found.x).eigenvalues()[0], -1e-9);
  EXPECT_GE(found.raised, 0);
  EXPECT_GT(found.zeros, 0);
  run.keep_dual = false;
  EXPECT_THROW((void)sparse_estimate(problem, solve(problem, methods::Corrective{}, run)), Error);
  problem.penalty = NoPenalty{};
  EXPECT_THROW((void)sparse_estimate(problem, result), Error);
}

TEST(Symmetric, ClaimsAreChecked) {
  Random random(41);
  const DenseObservations data = dense(low_rank_symmetric(45, 4, random), 0.8, random);
  const SparseObservations seen = sparse(data);
  Entries entries;
  for (Index i = 0; i < data.rows; ++i) {
    for (Offset e = seen.pattern.begin()[i]; e < seen.pattern.begin()[i + 1]; ++e) {
      entries.row.push_back(i);
      entries.col.push_back(seen.pattern.col()[e]);
      entries.value.push_back(seen.value[static_cast<std::size_t>(e)]);
    }
  }
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::semidefinite}) {
    for (const char* penalty : {"none", "l1:0.05", "complement-squared:0.01"}) {
      for (const bool as_sparse : {false, true}) {
        Problem problem{data, losses::Absolute{}, parse_penalty(penalty), TraceNormBall{40, {}, {}, symmetry}};
        if (as_sparse) problem.observations = seen;
        RunOptions run = limits(100, 1e-3);
        run.keep_dual = true;
        const Result result = solve(problem, methods::Corrective{}, run);
        const Claim claim = claim_of(problem, {}, result);
        const Model answer{result.solution, {}, {}, {}};
        const GivenData given{data.rows, data.cols, entries};
        const Verification found = verify(claim, given, answer);
        EXPECT_EQ(found.verdict, Verification::Verdict::proved) << to_text(found) << penalty << as_sparse;
        Claim bold = claim;
        bold.lower_bound += 1e-3 * std::abs(claim.lower_bound) + (claim.objective - claim.lower_bound);
        EXPECT_EQ(verify(bold, given, answer).verdict, Verification::Verdict::refuted);
        if (symmetry == Symmetry::symmetric) {  // as a claim about the cone its answer is not in there
          bold = claim;
          bold.constraint.symmetry = Symmetry::semidefinite;
          EXPECT_EQ(verify(bold, given, answer).verdict, Verification::Verdict::refuted);
        }
      }
    }
  }
}

TEST(Symmetric, DataMustBe) {
  Problem problem{DenseObservations{2, 2, {1, 2, 3, 4}, {}}, losses::Absolute{}, NoPenalty{},
                  TraceNormBall{1, {}, {}, Symmetry::symmetric}};
  try {
    solve(problem);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "symmetry = symmetric wants symmetric data, but the value at row 0, column 1 is 2, at row 1, column 0 "
                 "it is 3; symmetrize takes the mean of the two");
  }
  problem.observations = symmetrized(problem.observations);
  EXPECT_EQ(std::get<DenseObservations>(problem.observations).value[1], Real(2.5));
  EXPECT_NO_THROW(solve(problem));
  problem.observations = make_sparse(3, 3, {{0, 1}, {1, 1}, {7, 2}});
  EXPECT_THROW(solve(problem), Error);
  problem.observations = symmetrized(problem.observations);
  EXPECT_EQ(observed(problem.observations), 3);
  EXPECT_NO_THROW(solve(problem));
  EXPECT_THROW(solve(problem, methods::Glrl{}), Error);
  problem.observations = DenseObservations{1, 2, {1, 2}, {}};
  EXPECT_THROW(solve(problem), Error);
}

}  // namespace
}  // namespace tracenorm
