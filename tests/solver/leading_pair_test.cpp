// The search for the leading pair where something happens between two searches.
#include "solver/leading_pair.hpp"

#include <gtest/gtest.h>

#include "solver/evaluator.hpp"
#include "support/dense_svd.hpp"
#include "support/evaluation.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

LowRankMatrix somewhere(Random& random) {
  return {test::normal_matrix(40, 4, random), Eigen::VectorXd::Ones(4), test::normal_matrix(30, 4, random)};
}

TEST(LeadingPair, AProductMadeBeforeTheIterateMovedIsNotUsed) {
  // With a penalty off the pattern 2 lambda X is a part of the slopes. The first product of a search rides along with
  // the pass that makes them; when X changes before the search, it is of another matrix.
  Random random(4);
  const Problem problem{test::normal_entries(40, 30, 0.2, random), losses::Squared{}, ComplementSquaredPenalty{1},
                        TraceNormBall{40}};
  const auto f = test::make_evaluator(problem);
  f->restart(somewhere(random));
  f->linearize(0.5, false);
  f->leading_atom({1e-3, 20});  // from here on a product rides along
  f->linearize(0.5, false);
  f->restart(somewhere(random));
  const LeadingAtom& leading = f->leading_atom({1e-3, 400});
  const Eigen::MatrixXd m = test::slope_matrix(*f);
  const Eigen::VectorXd u = f->panels().download(leading.atom.left);
  const Eigen::VectorXd v = f->panels().download(leading.atom.right);
  EXPECT_NEAR(leading.sigma, u.dot(m * v), 1e-4 * leading.sigma);
  EXPECT_NEAR(leading.sigma, test::singular_values(m)[0], 1e-2 * leading.sigma);
}

}  // namespace
}  // namespace tracenorm
