// What seeds say about the slopes, against dense decompositions.
#include "methods/seeds.hpp"

#include <gtest/gtest.h>

#include "support/dense_svd.hpp"
#include "support/evaluation.hpp"
#include "support/host_panels.hpp"
#include "support/optima.hpp"
#include "support/plain_backend.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm::methods {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

double spectral_norm(const MatrixXd& m) { return test::singular_values(m)[0]; }

MatrixXd orthonormal(Random& random, Index rows, Index columns) {
  return test::dense_svd(test::normal_matrix(rows, columns, random)).u;
}

/// An evaluator at a matrix of rank two, with its slopes, and all of it as dense matrices.
struct Situation {
  Situation(const Problem& problem, const Backend& backend) : f(test::make_evaluator(problem, backend)) {
    Random random(11);
    left = orthonormal(random, f->rows(), 2);
    right = orthonormal(random, f->cols(), 2);
    FactoredMatrix z(f->panels(), LowRankMatrix(left, f->radius() * Eigen::Vector2d(0.6, 0.3), right));
    f->restart(std::move(z));
    f->linearize(0.1, false);
    slopes = test::slope_matrix(*f);
  }
  /// Slopes without what they do on the spans of X.
  [[nodiscard]] MatrixXd outside() const {
    const MatrixXd rows = slopes - left * (left.transpose() * slopes);
    return rows - rows * right * right.transpose();
  }
  std::shared_ptr<Evaluator> f;
  MatrixXd left;
  MatrixXd right;
  MatrixXd slopes;
};

/// Problems of every kind of slope matrix (plain, with a low-rank part, under a weighted norm), on both backends.
template <class Check>
void for_each_situation(Check&& check) {
  int met = 0;
  for (const Backend* backend : {&cpu_backend(), &test::plain_backend()}) {
    for (const auto* problems : {&test::solved_problems(), &test::weighted_problems()}) {
      for (const test::SolvedProblem& solved : *problems) {
        if (std::min(rows(solved.problem.observations), cols(solved.problem.observations)) < 5) continue;
        SCOPED_TRACE(solved.name);
        check(Situation(solved.problem, *backend));
        ++met;
      }
    }
  }
  EXPECT_GT(met, 100);
}

TEST(Seeds, InsideIsTheNormOfTheSlopesOnTheSpans) {
  for_each_situation([](const Situation& at) {
    const double expected =
        std::max(spectral_norm(at.slopes * at.right), spectral_norm(at.left.transpose() * at.slopes));
    EXPECT_NEAR(Seeds(*at.f, 1).inside(at.f->iterate()), expected, 1e-5 * (1 + expected));
  });
}

TEST(Seeds, OutsideIsOrthogonalToTheSpansAndDescends) {
  for_each_situation([](const Situation& at) {
    Seeds seeds(*at.f, 1);
    seeds.inside(at.f->iterate());
    const FactoredMatrix found = seeds.outside(3);
    ASSERT_EQ(found.terms(), 3);
    const VectorXd exact = test::singular_values(at.outside());
    if (exact[2] < 1e-2 * exact[0]) return;  // fewer directions than are looked for: the rest is noise
    const MatrixXd u = at.f->panels().download(found.left());
    const MatrixXd v = at.f->panels().download(found.right());
    // Orthogonal to X's spans and among each other, as far as panels in single precision can be.
    EXPECT_LT((at.left.transpose() * u).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_LT((at.right.transpose() * v).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_LT((u.transpose() * u - MatrixXd::Identity(3, 3)).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_LT((v.transpose() * v - MatrixXd::Identity(3, 3)).cwiseAbs().maxCoeff(), 1e-5);
    // Values are minus what the slopes say there.
    const MatrixXd inner = u.transpose() * at.slopes * v;
    const MatrixXd expected = (-VectorXd(found.values())).asDiagonal();
    EXPECT_LT((inner - expected).cwiseAbs().maxCoeff(), 1e-4 * (1 + spectral_norm(at.slopes)));
    for (Index k = 0; k < 3; ++k) EXPECT_LE(found.values()[k], 0);
  });
}

TEST(Seeds, OutsideFindsTheLeadingTriples) {
  for_each_situation([](const Situation& at) {
    Seeds seeds(*at.f, 1);
    seeds.inside(at.f->iterate());
    const FactoredMatrix found = seeds.outside(3);
    const VectorXd exact = test::singular_values(at.outside());
    // Sixteen columns iterate together, which is more than these matrices have directions (most of them) or many times
    // what is looked for: four rounds find the leading values to a percent.
    for (Index k = 0; k < 3; ++k) EXPECT_NEAR(-found.values()[k], exact[k], 0.01 * exact[0]) << k;
  });
}

TEST(Seeds, OfNothingAreTheLeadingTriplesOfTheSlopes) {
  const auto f = test::make_evaluator(test::solved_problems().front().problem);
  f->linearize(0.1, false);
  Seeds seeds(*f, 1);
  EXPECT_EQ(seeds.inside(f->iterate()), 0);
  const FactoredMatrix found = seeds.outside(1);
  ASSERT_EQ(found.terms(), 1);
  EXPECT_NEAR(-found.values()[0], spectral_norm(test::slope_matrix(*f)), 1e-4);
}

TEST(Seeds, AreNoMoreThanThereAreDirections) {
  const Situation at(test::solved_problems().front().problem, cpu_backend());
  Seeds seeds(*at.f, 1);
  seeds.inside(at.f->iterate());
  EXPECT_EQ(seeds.outside(100).terms(), std::min(at.f->rows(), at.f->cols()) - 2);
}

}  // namespace
}  // namespace tracenorm::methods
