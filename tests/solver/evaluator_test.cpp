// The evaluator against dense matrices: what a pass computes must be what the mathematics says, on every backend and
// both ways of keeping entries. The plain backend says what the verbs of the seam mean; the others must agree with it.
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "solver/every_problem.hpp"
#include "solver/rank_drop_steps.hpp"
#include "support/dense_svd.hpp"
#include "support/identifier.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm::test {
namespace {

TEST_P(EveryProblem, ObjectiveIsTheDefinition) {
  const Problem& problem = GetParam().sparse;
  const auto f = make();
  wander(*f);
  const double expected = plain_objective(problem, iterate(*f));
  EXPECT_NEAR(objective(*f), expected, 2e-6 * (1 + std::abs(expected)));
  EXPECT_NEAR(f->linearize(0.3, false).objective, expected, 2e-6 * (1 + std::abs(expected)));
}

/// The same steps on this backend and on the plain one: the same sums, slopes and iterates.
TEST_P(EveryProblem, AgreesWithThePlainLoops) {
  const auto f = make();
  const auto plain = make_evaluator(GetParam().sparse, plain_backend());
  for (int k = 0; k < 4; ++k) {
    const double width = 0.5 / (k + 1);
    const Linearization a = f->linearize(width, true);
    const Linearization b = plain->linearize(width, true);
    const double tolerance = 1e-5 * (1 + std::abs(b.objective));
    EXPECT_NEAR(a.objective, b.objective, tolerance) << k;
    EXPECT_NEAR(a.inner, b.inner, 10 * tolerance) << k;
    EXPECT_NEAR(a.conjugate_sum, b.conjugate_sum, 10 * tolerance) << k;
    EXPECT_NEAR(f->zero_conjugate_sum(), plain->zero_conjugate_sum(), tolerance) << k;
    const Eigen::MatrixXd m = slope_matrix(*plain);
    EXPECT_LT((slope_matrix(*f) - m).norm(), 1e-5 * (1 + m.norm())) << k;
    f->average(0.5);
    plain->average(0.5);
    // Off the pattern the dual point is made of today's X, which is another one than the average over all entries.
    const double averaged = f->make_dual(Slopes::average);
    if (f->store().facts().off_pattern == 0) {
      EXPECT_NEAR(averaged, plain->make_dual(Slopes::average), 10 * tolerance) << k;
    }
    // One target for both: what a search finds may differ where singular values are close.
    const HostFactors s = some_factors(*f, 1, 40 + static_cast<std::uint64_t>(k));
    const auto aim = [&](Evaluator& e) {
      const Panel left = e.panels().make(Side::left, Use::exact, 1);
      const Panel right = e.panels().make(Side::right, Use::exact, 1);
      e.panels().upload(s.left.normalized(), left);
      e.panels().upload(s.right.normalized(), right);
      e.aim(Atom{left, right, -1.5});
    };
    aim(*f);
    aim(*plain);
    const std::array<double, 3> t{0.0, 0.4, 0.9};
    std::array<SegmentPoint, 3> p{};
    std::array<SegmentPoint, 3> q{};
    f->objective_at(t, p);
    plain->objective_at(t, q);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(p[i].value, q[i].value, tolerance) << k;
    std::array<double, 3> c{};
    std::array<double, 3> d{};
    f->smoothed_derivatives_at(t, 0.3, c);
    plain->smoothed_derivatives_at(t, 0.3, d);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(c[i], d[i], 10 * tolerance) << k;
    EXPECT_NEAR(f->move(0.4), plain->move(0.4), 1e-5 * (1 + std::abs(b.objective))) << k;
    EXPECT_LT((iterate(*f) - iterate(*plain)).norm(), 1e-12 * (1 + iterate(*plain).norm())) << k;
  }
}

TEST_P(EveryProblem, AMatrixIsATargetLikeAnAtom) {
  const Problem& problem = GetParam().sparse;
  const auto f = make();
  wander(*f);
  const Eigen::MatrixXd x = iterate(*f);
  const LowRankMatrix on_host = some_factors(*f, 3, 8).times(0.5);
  const Eigen::MatrixXd s = on_host.dense();
  const FactoredMatrix target(f->panels(), on_host);
  f->aim(target.copy());
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
  EXPECT_LT((iterate(*f) - (x + 0.25 * (s - x))).norm(), 1e-6 * (1 + x.norm() + s.norm()));
  EXPECT_NEAR(objective(*f), points[1].value, 1e-5 * (1 + std::abs(points[1].value)));
  f->aim(target.copy());
  f->move(1);
  EXPECT_NEAR(objective(*f), points[2].value, 1e-5 * (1 + std::abs(points[2].value)));
}

TEST_P(EveryProblem, ShiftedSlopesStayBoundsAndLeaveSmoothFunctionsAlone) {
  const Problem& problem = GetParam().sparse;
  const auto f = make();
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
  const Problem& problem = GetParam().sparse;
  const auto f = make();
  wander(*f);
  const double tau = 0.3;
  const Linearization model = f->linearize(tau, true);
  const Eigen::MatrixXd m = slope_matrix(*f);
  const Eigen::MatrixXd x = iterate(*f);
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
  const auto f = make();
  wander(*f);
  f->linearize(0.2, false);
  const Eigen::MatrixXd m = slope_matrix(*f);
  const double sigma = singular_values(m)[0];
  const LeadingAtom& leading = f->leading_atom({1e-9, 500});
  EXPECT_NEAR(leading.sigma, sigma, 1e-6 * (1 + sigma));
  const Eigen::VectorXd u = f->panels().download(leading.atom.left);
  const Eigen::VectorXd v = f->panels().download(leading.atom.right);
  EXPECT_NEAR(u.dot(m * v), sigma, 1e-6 * (1 + sigma));
  EXPECT_DOUBLE_EQ(leading.atom.weight, -f->radius());
}

TEST_P(EveryProblem, BoundsOfTheNormAreAboveIt) {
  const auto f = make();
  for (int k = 0; k < 6; ++k) {
    f->linearize(0.5 / (k + 1), false);
    f->average(2.0 / (k + 2));
    f->aim(f->leading_atom({1e-4, 50}).atom);
    f->move(2.0 / (k + 3));
  }
  f->linearize(0.1, true);
  f->leading_atom({1e-8, 200});
  f->average(0.3);
  const double sigma = singular_values(slope_matrix(*f))[0];
  f->make_dual(Slopes::current);
  const SpectralBound bound = f->bound_norm(f->estimate_norm(Slopes::current), 1e9);
  EXPECT_GE(bound.value, sigma * (1 - 1e-6));  // moved into the domains, and sigma is of what was stored before
  EXPECT_LE(bound.value, sigma * (1 + 1e-5) + 1e-5);
  f->make_dual(Slopes::average);
  // The estimate is made in Real.
  const double estimate = f->estimate_norm(Slopes::dual);
  EXPECT_GE(f->bound_norm(estimate, 1e9).value * (1 + 1e-5), estimate);
}

TEST_P(EveryProblem, AnIterateIsRememberedThroughWhateverFollows) {
  for (const int what : {0, 1, 2, 3}) {
    std::optional<RankDropSteps> drops;
    const auto f = make();
    wander(*f);
    f->remember();
    const Eigen::MatrixXd then = iterate(*f);
    const auto move = [&](double t) {
      f->linearize(0.2, false);
      f->aim(f->leading_atom({1e-2, 10}).atom);
      f->move(t);
    };
    for (int k = 0; k < 20; ++k) move(0.2);
    if (what == 1) f->compress();
    if (what == 2) move(1.0);
    if (what == 3) drops.emplace(*f);
    for (int k = 0; k < 3; ++k) move(0.3);
    EXPECT_LT((f->remembered().download(f->rows(), f->cols()).dense() - then).norm(), 1e-12 * (1 + then.norm()))
        << what;
    EXPECT_LT((f->remembered().download(f->rows(), f->cols()).dense() - then).norm(), 1e-12 * (1 + then.norm()))
        << what;
    f->remember();
    EXPECT_LT((f->remembered().download(f->rows(), f->cols()).dense() - iterate(*f)).norm(), 1e-12 * (1 + then.norm()))
        << what;
  }
}

/// With an l1 penalty every entry has a kink (at zero); otherwise only observed ones can.
double largest_over_kinks(const Problem& problem, const Eigen::MatrixXd& change) {
  const auto* l1 = std::get_if<L1Penalty>(&problem.penalty);
  if (l1 != nullptr && l1->lambda > 0) return change.cwiseAbs().maxCoeff();
  const SparsePattern& pattern = std::get<SparseObservations>(problem.observations).pattern;
  double largest = 0;
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      largest = std::max(largest, std::abs(change(i, pattern.col()[e])));
    }
  }
  return largest;
}

TEST_P(EveryProblem, SegmentsAgreeWithMoves) {
  const auto f = make();
  wander(*f);
  f->linearize(0.2, false);
  f->aim(f->leading_atom({1e-4, 50}).atom);
  const std::array<double, 3> t{0.0, 0.25, 0.75};
  std::array<SegmentPoint, 3> points{};
  f->objective_at(t, points);
  EXPECT_NEAR(points[0].value, objective(*f), 1e-6 * (1 + std::abs(points[0].value)));
  // Convex along the segment: derivatives support the values.
  EXPECT_GE(points[1].value + 1e-5 * (1 + std::abs(points[1].value)), points[0].value + 0.25 * points[0].derivative);
  EXPECT_GE(points[0].value + 1e-5 * (1 + std::abs(points[1].value)), points[1].value - 0.25 * points[1].derivative);
  const Eigen::MatrixXd before = iterate(*f);
  const Atom atom = f->leading_atom({1e-4, 50}).atom;
  const Eigen::MatrixXd target =
      atom.weight * f->panels().download(atom.left) * f->panels().download(atom.right).transpose();
  f->aim(atom);
  f->objective_at(t, points);
  const double change = f->move(0.75);
  EXPECT_NEAR(objective(*f), points[2].value, 1e-5 * (1 + std::abs(points[2].value)));
  EXPECT_NEAR(change, largest_over_kinks(GetParam().sparse, before - target), 1e-5 * (1 + change));
}

TEST_P(EveryProblem, AMoveToAMatrixSaysTheLargestChangeOverTheKinksToo) {
  const auto f = make();
  wander(*f);
  const Eigen::MatrixXd before = iterate(*f);
  const FactoredMatrix target(f->panels(), some_factors(*f, 2, 11).times(0.3));
  f->aim(target.copy());
  const double change = f->move(0.5);
  const Eigen::MatrixXd difference = before - target.download(f->rows(), f->cols()).dense();
  EXPECT_NEAR(change, largest_over_kinks(GetParam().sparse, difference), 1e-5 * (1 + change));
}

TEST_P(EveryProblem, ADualPointCostsWhatRoundingMayHaveHidden) {
  const auto f = make();
  wander(*f);
  f->linearize(0.3, true);
  const FactoredMatrix& x = f->iterate();
  const FactorView at = x.view();
  const bool off_pattern = f->store().facts().off_pattern > 0;
  const EntrySums sums = f->store().conjugates(Slopes::current, off_pattern ? &at : nullptr);
  EXPECT_GT(sums.rounding, 0);
  EXPECT_GE(f->make_dual(Slopes::current), sums.conjugate + sums.rounding);
}

TEST_P(EveryProblem, RestartMakesTheEntriesAgreeWithTheFactors) {
  const auto f = make();
  wander(*f);
  const LowRankMatrix copy = f->downloaded();
  const double before = objective(*f);
  const auto g = make();
  g->restart(copy);
  EXPECT_NEAR(objective(*g), before, 2e-6 * (1 + std::abs(before)));
}

/// Through every kind of move: to atoms, to matrices, by rank drops.
TEST_P(EveryProblem, HeldOutEntriesAreFollowed) {
  const auto f = make();
  const Index m = f->rows();
  const Index n = f->cols();
  const Entries held_out{{0, 1 % m, m - 1}, {1 % n, n - 1, 0}, {1.0, -1.0, 1.0}};
  f->watch(held_out);
  const auto expect_followed = [&](const char* after) {
    const Eigen::MatrixXd x = iterate(*f);
    double squares = 0;
    double absolute = 0;
    for (std::size_t e = 0; e < 3; ++e) {
      const double error = x(held_out.row[e], held_out.col[e]) - double(held_out.value[e]);
      squares += error * error;
      absolute += std::abs(error);
    }
    EXPECT_NEAR(f->held_out_error().rmse, std::sqrt(squares / 3), 1e-4 * (1 + std::sqrt(squares))) << after;
    EXPECT_NEAR(f->held_out_error().mae, absolute / 3, 1e-4 * (1 + absolute)) << after;
  };
  wander(*f);
  expect_followed("atoms");
  const FactoredMatrix target(f->panels(), some_factors(*f, 3, 8).times(0.5));
  for (const double t : {0.5, 1.0}) {
    f->aim(target.copy());
    f->move(t);
    expect_followed("a matrix");
  }
  RankDropSteps drops(*f);
  f->linearize(0.3, false);
  drops.drop({Eigen::VectorXd::Unit(drops.singular_values().size(), 0), 1.0});
  expect_followed("a rank drop");
}

INSTANTIATE_TEST_SUITE_P(Fixtures, EveryProblem, testing::ValuesIn(all_cases()),
                         [](const auto& tested) { return identifier(tested.param.name); });

}  // namespace
}  // namespace tracenorm::test
