// The evaluators against dense matrices: what a pass computes must be what the mathematics says.
#include "tracenorm/evaluator.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "support/identifier.hpp"
#include "support/optima.hpp"

namespace tracenorm {
namespace {

using test::SolvedProblem;

/// M as a dense matrix, by products with unit vectors.
Eigen::MatrixXd slope_matrix(Evaluator& f) {
  Eigen::MatrixXd out;
  f.apply_block(Eigen::MatrixXd::Identity(f.cols(), f.cols()), out);
  return out;
}

/// The objective by its definition, entry by entry in double.
double plain_objective(const Problem& problem, const Eigen::MatrixXd& x) {
  const auto& data = std::get<SparseObservations>(problem.observations);
  double sum = 0;
  Eigen::MatrixXd observed = Eigen::MatrixXd::Zero(x.rows(), x.cols());
  for (Index i = 0; i < data.pattern.rows(); ++i) {
    for (Offset e = data.pattern.begin()[i]; e < data.pattern.begin()[i + 1]; ++e) {
      const Index j = data.pattern.col()[e];
      observed(i, j) = 1;
      const double weight = data.weight.empty() ? 1.0 : double(data.weight[std::size_t(e)]);
      sum +=
          weight *
          std::visit([&](const auto& loss) { return double(loss.value(x(i, j), double(data.value[std::size_t(e)]))); },
                     problem.loss);
    }
  }
  if (const auto* l1 = std::get_if<L1Penalty>(&problem.penalty)) sum += l1->lambda * x.cwiseAbs().sum();
  if (const auto* complement = std::get_if<ComplementSquaredPenalty>(&problem.penalty)) {
    sum += complement->lambda * ((1 - observed.array()) * x.array().square()).sum();
  }
  return sum;
}

class EveryProblem : public testing::TestWithParam<SolvedProblem> {
 protected:
  /// A few steps away from zero.
  static void wander(Evaluator& f) {
    for (int k = 0; k < 4; ++k) {
      f.linearize(0.5, false);
      f.aim(f.leading_atom({1e-6, 100}).atom);
      f.move(2.0 / (k + 3));
    }
  }
};

TEST_P(EveryProblem, ObjectiveIsTheDefinition) {
  const Problem& problem = GetParam().problem;
  const auto f = make_evaluator(problem);
  wander(*f);
  const double expected = plain_objective(problem, f->iterate().dense());
  EXPECT_NEAR(f->objective(), expected, 2e-6 * (1 + std::abs(expected)));
  EXPECT_NEAR(f->linearize(0.3, false).objective, expected, 2e-6 * (1 + std::abs(expected)));
}

TEST_P(EveryProblem, ProductsHaveTheAdjointProperty) {
  const auto f = make_evaluator(GetParam().problem);
  wander(*f);
  f->linearize(0.2, false);
  const Eigen::MatrixXd m = slope_matrix(*f);
  Eigen::MatrixXd transposed;
  f->apply_transpose_block(Eigen::MatrixXd::Identity(f->rows(), f->rows()), transposed);
  EXPECT_LT((m - transposed.transpose()).norm(), 1e-10 * (1 + m.norm()));
}

/// Any matrix of the shape, as factors and dense.
Factors some_factors(const Evaluator& f, Index terms, std::uint64_t seed) {
  Random random(seed);
  Factors factors(f.rows(), f.cols(), terms);
  factors.left().leftCols(terms) = Factors::Matrix::NullaryExpr(f.rows(), terms, [&] { return Real(random.normal()); });
  factors.right().leftCols(terms) =
      Factors::Matrix::NullaryExpr(f.cols(), terms, [&] { return Real(random.normal()); });
  return factors;
}

TEST_P(EveryProblem, FactorGradientIsLinearizeElsewhere) {
  const auto f = make_evaluator(GetParam().problem);
  wander(*f);
  f->linearize(0.2, false);
  const Eigen::MatrixXd before = slope_matrix(*f);
  const Factors at = some_factors(*f, 3, 5);
  for (const bool shifted : {false, true}) {
    if (shifted) f->shift_kinks(0.4);
    Factors products;
    const Linearization there = f->factor_gradient(at, 0.7, 0.4, products);
    const auto g = make_evaluator(GetParam().problem);
    if (shifted) {  // the same multipliers, made at the same place
      g->restart(f->iterate());
      g->shift_kinks(0.4);
    }
    g->restart(at.to_low_rank(0.7));
    const Linearization model = g->linearize(0.4, false);
    const Eigen::MatrixXd m = slope_matrix(*g);
    const double tolerance = 1e-4 * (1 + m.norm());
    EXPECT_NEAR(there.objective, model.objective, 1e-5 * (1 + std::abs(model.objective)));
    EXPECT_NEAR(there.inner, model.inner, 1e-4 * (1 + std::abs(model.inner)));
    EXPECT_LT((products.left().cast<double>() - m * at.right().cast<double>()).norm(), 10 * tolerance);
    EXPECT_LT((products.right().cast<double>() - m.transpose() * at.left().cast<double>()).norm(), 10 * tolerance);
  }
  EXPECT_LT((slope_matrix(*f) - before).norm(), 1e-12 * (1 + before.norm())) << "nothing was to change here";
}

TEST_P(EveryProblem, MultiplyIsBothProducts) {
  const auto f = make_evaluator(GetParam().problem);
  wander(*f);
  f->linearize(0.2, false);
  const Eigen::MatrixXd m = slope_matrix(*f);
  const Factors block = some_factors(*f, 2, 6);
  Factors out;
  f->multiply(block, out);
  EXPECT_LT((out.left().cast<double>() - m * block.right().cast<double>()).norm(), 1e-4 * (1 + m.norm()));
  EXPECT_LT((out.right().cast<double>() - m.transpose() * block.left().cast<double>()).norm(), 1e-4 * (1 + m.norm()));
}

TEST_P(EveryProblem, AMatrixIsATargetLikeAnAtom) {
  const Problem& problem = GetParam().problem;
  const auto f = make_evaluator(problem);
  wander(*f);
  const Eigen::MatrixXd x = f->iterate().dense();
  const LowRankMatrix target = some_factors(*f, 3, 8).to_low_rank(0.5);
  const Eigen::MatrixXd s = target.dense();
  f->aim(target);
  const double t[] = {0.0, 0.25, 1.0};
  SegmentPoint points[3];
  f->objective_at(t, points);
  for (int p = 0; p < 3; ++p) {
    const double expected = plain_objective(problem, x + t[p] * (s - x));
    EXPECT_NEAR(points[p].value, expected, 1e-5 * (1 + std::abs(expected)));
  }
  double derivatives[3];
  f->smoothed_derivatives_at(t, 0.3, derivatives);
  const Linearization here = f->linearize(0.3, false);
  const double expected = (slope_matrix(*f).array() * s.array()).sum() - here.inner;
  EXPECT_NEAR(derivatives[0], expected, 1e-4 * (1 + std::abs(expected)));
  f->move(0.25);
  EXPECT_LT((f->iterate().dense() - (x + 0.25 * (s - x))).norm(), 1e-6 * (1 + x.norm() + s.norm()));
  EXPECT_NEAR(f->objective(), points[1].value, 1e-5 * (1 + std::abs(points[1].value)));
  f->aim(target);
  f->move(1);
  EXPECT_NEAR(f->objective(), points[2].value, 1e-5 * (1 + std::abs(points[2].value)));
}

TEST_P(EveryProblem, ShiftedSlopesStayBoundsAndLeaveSmoothFunctionsAlone) {
  const Problem& problem = GetParam().problem;
  const auto f = make_evaluator(problem);
  wander(*f);
  const Linearization before = f->linearize(0.3, true);
  f->shift_kinks(0.3);
  const Linearization after = f->linearize(0.3, true);
  EXPECT_NEAR(after.objective, before.objective, 1e-6 * (1 + std::abs(before.objective)));
  // Fenchel: f(X) + f*(M) >= <M, X> for feasible slopes wherever they were taken.
  EXPECT_GE(after.objective + after.conjugate_sum - after.inner, -1e-4 * (1 + std::abs(after.objective)));
  const bool smooth =
      std::holds_alternative<losses::Squared>(problem.loss) && !std::holds_alternative<L1Penalty>(problem.penalty);
  if (smooth) {
    EXPECT_NEAR(after.inner, before.inner, 1e-6 * (1 + std::abs(before.inner)));
  }
}

TEST_P(EveryProblem, SlopesAreDerivativesOfTheSmoothedObjective) {
  // <M, D> must be the derivative of the moving average of f in direction D; check by the chord of each entry: the
  // derivative of sum F_tau along an atom equals <M, atom - X>.
  const Problem& problem = GetParam().problem;
  const auto f = make_evaluator(problem);
  wander(*f);
  const double tau = 0.3;
  const Linearization model = f->linearize(tau, true);
  const Eigen::MatrixXd m = slope_matrix(*f);
  const Eigen::MatrixXd x = f->iterate().dense();
  EXPECT_NEAR(model.inner, (m.array() * x.array()).sum(), 1e-4 * (1 + std::abs(model.inner)));
  // F_tau(X + s E) by averaging f over shifts of all entries at once (the objective is separable, so a common shift per
  // evaluation integrates every entry).
  Random random(3);
  const Eigen::MatrixXd direction = Eigen::MatrixXd::NullaryExpr(x.rows(), x.cols(), [&] { return random.normal(); });
  const auto smoothed = [&](double s) {
    const int steps = 2000;
    double sum = 0;
    for (int i = 0; i < steps; ++i) {
      const double shift = tau * (2 * (i + 0.5) / steps - 1);
      Eigen::MatrixXd moved = x + s * direction;
      moved.array() += shift;
      sum += plain_objective(problem, moved);
    }
    return sum / steps;
  };
  const double h = 1e-3;
  const double derivative = (smoothed(h) - smoothed(-h)) / (2 * h);
  EXPECT_NEAR((m.array() * direction.array()).sum(), derivative, 2e-3 * (1 + m.norm() * direction.norm()));
}

TEST_P(EveryProblem, LeadingAtomMinimisesTheLinearModel) {
  const auto f = make_evaluator(GetParam().problem);
  wander(*f);
  f->linearize(0.2, false);
  const Eigen::MatrixXd m = slope_matrix(*f);
  const double sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(m).singularValues()[0];
  const LeadingAtom& leading = f->leading_atom({1e-9, 500});
  EXPECT_NEAR(leading.sigma, sigma, 1e-6 * (1 + sigma));
  EXPECT_NEAR(leading.atom.left.dot(m * leading.atom.right), sigma, 1e-6 * (1 + sigma));
  EXPECT_DOUBLE_EQ(leading.atom.weight, -f->radius());
}

TEST_P(EveryProblem, BoundsOfTheNormAreAboveIt) {
  const auto f = make_evaluator(GetParam().problem);
  for (int k = 0; k < 6; ++k) {
    f->linearize(0.5 / (k + 1), false);
    f->average(2.0 / (k + 2));
    f->aim(f->leading_atom({1e-4, 50}).atom);
    f->move(2.0 / (k + 3));
  }
  f->linearize(0.1, true);
  f->leading_atom({1e-8, 200});
  f->average(0.3);
  const double sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(slope_matrix(*f)).singularValues()[0];
  const SpectralBound bound = f->bound_norm(Slopes::current, 1e9);
  EXPECT_GE(bound.value, sigma);
  EXPECT_LE(bound.value, sigma * (1 + 1e-5) + 1e-5);
  f->average_conjugate_sum();
  // The estimate is made in Real.
  EXPECT_GE(f->bound_norm(Slopes::average, 1e9).value * (1 + 1e-5), f->estimate_norm(Slopes::average));
}

TEST_P(EveryProblem, AnIterateIsRememberedThroughWhateverFollows) {
  for (const int what : {0, 1, 2, 3}) {
    const auto f = make_evaluator(GetParam().problem);
    wander(*f);
    f->remember();
    const Eigen::MatrixXd then = f->iterate().dense();
    const auto move = [&](double t) {
      f->linearize(0.2, false);
      f->aim(f->leading_atom({1e-2, 10}).atom);
      f->move(t);
    };
    for (int k = 0; k < 20; ++k) move(0.2);
    if (what == 1) f->compress();
    if (what == 2) move(1.0);
    if (what == 3) f->keep_thin();
    for (int k = 0; k < 3; ++k) move(0.3);
    EXPECT_LT((f->remembered().dense() - then).norm(), 1e-12 * (1 + then.norm())) << what;
    EXPECT_LT((f->remembered().dense() - then).norm(), 1e-12 * (1 + then.norm())) << what;
    f->remember();
    EXPECT_LT((f->remembered().dense() - f->iterate().dense()).norm(), 1e-12 * (1 + then.norm())) << what;
  }
}

TEST_P(EveryProblem, SegmentsAgreeWithMoves) {
  const auto f = make_evaluator(GetParam().problem);
  wander(*f);
  f->linearize(0.2, false);
  f->aim(f->leading_atom({1e-4, 50}).atom);
  const std::array<double, 3> t{0.0, 0.25, 0.75};
  std::array<SegmentPoint, 3> points{};
  f->objective_at(t, points);
  EXPECT_NEAR(points[0].value, f->objective(), 1e-6 * (1 + std::abs(points[0].value)));
  // Convex along the segment: derivatives support the values.
  EXPECT_GE(points[1].value + 1e-5 * (1 + std::abs(points[1].value)), points[0].value + 0.25 * points[0].derivative);
  EXPECT_GE(points[0].value + 1e-5 * (1 + std::abs(points[1].value)), points[1].value - 0.25 * points[1].derivative);
  const Eigen::MatrixXd before = f->iterate().dense();
  const Atom atom = f->leading_atom({1e-4, 50}).atom;
  f->aim(atom);
  f->objective_at(t, points);
  const double change = f->move(0.75);
  EXPECT_NEAR(f->objective(), points[2].value, 1e-5 * (1 + std::abs(points[2].value)));
  const Eigen::MatrixXd difference = before - atom.weight * atom.left * atom.right.transpose();
  EXPECT_LE(change, difference.cwiseAbs().maxCoeff() * (1 + 1e-5));
}

TEST_P(EveryProblem, RestartMakesTheEntriesAgreeWithTheFactors) {
  const Problem& problem = GetParam().problem;
  const auto f = make_evaluator(problem);
  wander(*f);
  LowRankMatrix copy = f->iterate();
  const double before = f->objective();
  const auto g = make_evaluator(problem);
  g->restart(copy);
  EXPECT_NEAR(g->objective(), before, 2e-6 * (1 + std::abs(before)));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, EveryProblem, testing::ValuesIn(test::solved_problems()),
                         [](const auto& tested) { return test::identifier(tested.param.name); });

TEST(Evaluator, DenseAndSparseAgree) {
  Random random(8);
  Entries entries;
  std::vector<Real> values;
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 45; ++j) {
      const auto y = Real(random.normal());
      const bool observed = random.uniform() < 0.3;
      values.push_back(observed ? y : std::numeric_limits<Real>::quiet_NaN());
      if (!observed) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(y);
    }
  }
  const DenseObservations dense{60, 45, std::move(values), {}};
  for (const Penalty& penalty : {Penalty(NoPenalty{}), Penalty(ComplementSquaredPenalty{0.05})}) {
    const Problem sparse_problem{make_sparse(60, 45, entries), losses::Absolute{}, penalty, TraceNormBall{20}};
    const Problem dense_problem{dense, losses::Absolute{}, penalty, TraceNormBall{20}};
    const auto a = make_evaluator(sparse_problem);
    const auto b = make_evaluator(dense_problem);
    for (int k = 0; k < 5; ++k) {
      const Linearization p = a->linearize(0.3, true);
      const Linearization q = b->linearize(0.3, true);
      EXPECT_NEAR(p.objective, q.objective, 1e-4 * q.objective);
      EXPECT_NEAR(p.inner, q.inner, 1e-3 * (1 + std::abs(q.inner)));
      EXPECT_NEAR(p.conjugate_sum, q.conjugate_sum, 1e-3 * (1 + std::abs(q.conjugate_sum)));
      EXPECT_NEAR(a->leading_atom({1e-9, 300}).sigma, b->leading_atom({1e-9, 300}).sigma,
                  1e-4 * (1 + p.objective / 100));
      const Atom atom = a->leading_atom({1e-9, 300}).atom;
      a->aim(atom);
      b->aim(atom);
      EXPECT_NEAR(a->move(0.3), b->move(0.3), 1e-4);
    }
  }
}

TEST(Evaluator, AProbabilisticBoundIsAboveTheNormToo) {
  Random random(21);
  Entries entries;
  for (Index i = 0; i < 1500; ++i) {
    for (Index j = 0; j < 1200; ++j) {
      if (random.uniform() < 0.01) {
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(Real(random.normal()));
      }
    }
  }
  const Problem problem{make_sparse(1500, 1200, entries), losses::Absolute{}, NoPenalty{}, TraceNormBall{50}};
  const auto f = make_evaluator(problem);
  f->linearize(0.5, true);
  const double sigma = f->leading_atom({1e-10, 1000}).sigma;
  const SpectralBound loose = f->bound_norm(Slopes::current, 0);
  EXPECT_EQ(loose.proof, SpectralBound::Proof::probabilistic);
  EXPECT_GT(loose.failure_probability, 0);
  EXPECT_GE(loose.value, sigma);
  EXPECT_LE(loose.value, 1.1 * sigma);
  const SpectralBound tight = f->bound_norm(Slopes::current, 1e9);
  EXPECT_EQ(tight.proof, SpectralBound::Proof::cholesky);
  EXPECT_GE(tight.value, sigma);
  EXPECT_LE(tight.value, sigma * (1 + 2e-3));
}

TEST(Evaluator, AFactorisationThatIsCheapProvesTheNorm) {
  Random random(22);
  Entries entries;
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 200; ++j) {
      if (random.uniform() > 0.2) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(Real(random.normal()));
    }
  }
  const Problem problem{make_sparse(300, 200, entries), losses::Absolute{}, NoPenalty{}, TraceNormBall{50}};
  const auto f = make_evaluator(problem);
  f->linearize(0.5, true);
  const double sigma = f->leading_atom({1e-10, 1000}).sigma;
  const SpectralBound cheap = f->bound_norm(Slopes::current, 0);
  EXPECT_EQ(cheap.proof, SpectralBound::Proof::cholesky);
  EXPECT_EQ(cheap.failure_probability, 0);
  EXPECT_GE(cheap.value, sigma);
  EXPECT_LE(cheap.value, sigma * (1 + 2e-3));
  const SpectralBound exact = f->bound_norm(Slopes::current, 1e9);
  EXPECT_EQ(exact.proof, SpectralBound::Proof::exact);
  EXPECT_GE(exact.value, sigma);
  EXPECT_LE(exact.value, sigma * (1 + 1e-5));
}

TEST(Evaluator, HeldOutEntriesAreFollowed) {
  const SolvedProblem& solved = test::solved_problems().front();
  const auto f = make_evaluator(solved.problem);
  const Entries held_out{{0, 1, 2}, {1, 2, 0}, {0.5, -0.5, 1.0}};
  f->watch(held_out);
  for (int k = 0; k < 5; ++k) {
    f->linearize(0.5, false);
    f->aim(f->leading_atom({1e-4, 50}).atom);
    f->move(2.0 / (k + 2));
    double squares = 0;
    double absolute = 0;
    for (std::size_t e = 0; e < 3; ++e) {
      const double error = f->iterate().entry(held_out.row[e], held_out.col[e]) - double(held_out.value[e]);
      squares += error * error;
      absolute += std::abs(error);
    }
    EXPECT_NEAR(f->held_out_error().rmse, std::sqrt(squares / 3), 1e-5);
    EXPECT_NEAR(f->held_out_error().mae, absolute / 3, 1e-5);
  }
}

}  // namespace
}  // namespace tracenorm
