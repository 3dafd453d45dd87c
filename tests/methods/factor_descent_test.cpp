// Descent over factors: its gradient against differences, its answers against the ball and the objective it lowers.
#include "methods/factor_descent.hpp"

#include <gtest/gtest.h>

#include "support/dense_svd.hpp"
#include "support/evaluation.hpp"
#include "support/optima.hpp"
#include "tracenorm/methods/corrective.hpp"

namespace tracenorm::methods {
namespace {

using Eigen::MatrixXd;
using test::SolvedProblem;

/// The smoothed objective by its definition, up to a constant: every entry's function averaged over [x - width, x +
/// width]. The entries are shifted together, because the average of a sum is the sum of averages.
double smoothed(const Problem& problem, const MatrixXd& x, double width, int points = 1000) {
  double sum = 0;
  for (int p = 0; p < points; ++p) {
    const double shift = width * ((2 * p + 1.0) / points - 1);
    sum += test::plain_objective(problem, (x.array() + shift).matrix());
  }
  return sum / points;
}

/// X at the entries, of factors that are those of Z under a weighted norm.
MatrixXd at_entries(const Evaluator& f, const FactoredMatrix& z) {
  return f.norm().to_data(z.copy()).download(f.rows(), f.cols()).dense();
}

double trace_norm(const Evaluator& f, const FactoredMatrix& z) {
  return test::singular_values(z.download(f.rows(), f.cols()).dense()).sum();
}

std::vector<const SolvedProblem*> problems() {
  std::vector<const SolvedProblem*> all;
  for (const auto* list : {&test::solved_problems(), &test::weighted_problems()}) {
    for (const SolvedProblem& solved : *list) all.push_back(&solved);
  }
  return all;
}

/// Somewhere in the ball: a few Frank-Wolfe steps, and inside by a little.
std::shared_ptr<Evaluator> on_the_way(const Problem& problem, int steps) {
  auto f = test::make_evaluator(problem);
  for (int k = 0; k < steps; ++k) {
    f->linearize(0.2, false);
    f->aim(f->leading_atom({1e-3, 60}).atom);
    f->move(1.8 / (k + 3));
  }
  return f;
}

TEST(FactorGradient, AgreesWithDifferences) {
  for (const SolvedProblem* solved : problems()) {
    const auto f = on_the_way(solved->problem, 4);
    Panels& panels = f->panels();
    const Product at = f->sampled(f->iterate());
    const Product products{panels.copy(at.left), panels.copy(at.right)};
    const Product way{panels.copy(at.left), panels.copy(at.right)};
    Random random(2);
    panels.draw(1, random, way.left);
    panels.draw(1, random, way.right);
    const double scale = 0.7;
    const double width = 0.3;
    const MatrixXd left = panels.download(at.left);
    const MatrixXd right = panels.download(at.right);
    f->factor_gradient(at, scale, width, products);
    const MatrixXd left_way = panels.download(way.left);
    const MatrixXd right_way = panels.download(way.right);
    const double derivative = scale * (panels.download(products.left).cwiseProduct(left_way).sum() +
                                       panels.download(products.right).cwiseProduct(right_way).sum());
    const auto value = [&](double t) {
      const MatrixXd z = scale * (left + t * left_way) * (right + t * right_way).transpose();
      const FactoredMatrix factored(
          panels, LowRankMatrix(z, Eigen::VectorXd::Ones(z.cols()), MatrixXd::Identity(z.cols(), z.cols())));
      return smoothed(solved->problem, at_entries(*f, factored), width, 8000);
    };
    constexpr double h = 2e-4;
    EXPECT_NEAR((value(h) - value(-h)) / (2 * h), derivative, 2e-3 * (1 + std::abs(derivative))) << solved->name;
  }
}

TEST(FactorDescent, LowersTheSmoothedObjectiveInsideTheBall) {
  int lowered = 0;
  for (const SolvedProblem* solved : problems()) {
    for (const double width : {0.3, 0.02}) {
      SCOPED_TRACE(solved->name + " at width " + std::to_string(width));
      const auto f = on_the_way(solved->problem, 6);
      FactorDescent descent(*f, 3);
      const double start = smoothed(solved->problem, at_entries(*f, f->iterate()), width);
      // Single precision, in which the descent sees the objective.
      const double rounding = 1e-6 * (1 + std::abs(start));
      // Its own search sees derivatives alone, so that a single step may land beyond the valley (up to 7 times the
      // start, for epsilon-insensitive-l1-6x5-inactive): what counts is where it ends. After ten steps all of these are
      // below the start.
      double last = start;
      for (const int steps : {0, methods::Corrective{}.steps, 60}) {
        const FactoredMatrix x =
            descent.descend(f->iterate().copy(), FactoredMatrix(f->panels()), width, steps, [] { return false; }).x;
        const double here = smoothed(solved->problem, at_entries(*f, x), width);
        EXPECT_LE(here, last + rounding) << steps << " steps";
        EXPECT_LE(trace_norm(*f, x), f->radius() * (1 + 1e-12)) << steps << " steps";
        last = here;
      }
      lowered += last < start - 0.01 * std::abs(start) ? 1 : 0;
    }
  }
  EXPECT_GE(lowered, 100);
}

TEST(FactorDescent, StaysWhereItIsToldTo) {
  const SolvedProblem& solved = test::solved_problems().front();
  const auto f = on_the_way(solved.problem, 6);
  const MatrixXd before = test::iterate(*f);
  const FactoredMatrix x =
      FactorDescent(*f, 3).descend(f->iterate().copy(), FactoredMatrix(f->panels()), 0.1, 100, [] { return true; }).x;
  EXPECT_LT((at_entries(*f, x) - before).norm(), 1e-6 * before.norm());
  const FactoredMatrix zero(f->panels());
  EXPECT_EQ(
      FactorDescent(*f, 3).descend(zero.copy(), FactoredMatrix(f->panels()), 0.1, 100, [] { return false; }).x.terms(),
      0);
}

}  // namespace
}  // namespace tracenorm::methods
