// Directions against the two-loop recursion of L-BFGS on plain vectors, and what is known of them on quadratics.
#include "methods/quasi_newton.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <utility>

#include "support/dense_svd.hpp"
#include "support/host_panels.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm::methods {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMemory = 4;

/// Points as long vectors, and back.
struct Vectors : test::Host {
  Vectors() : Host(3, 2) {}  // NOLINT(clang-analyzer-optin.cplusplus.UninitializedObject): as for the host
  DescentPoint make() { return make_point(panels, kFactorStep); }
  [[nodiscard]] Eigen::Index size() const { return (rows + cols) * kFactorStep + 1; }
  VectorXd dense(const DescentPoint& point) {
    VectorXd out(size());
    out << panels.download(point.factors.left).reshaped(), panels.download(point.factors.right).reshaped(), point.slack;
    return out;
  }
  DescentPoint point(const VectorXd& v) {
    DescentPoint out = make();
    const Eigen::Index left = rows * kFactorStep;
    panels.upload(v.head(left).reshaped(rows, kFactorStep), out.factors.left);
    panels.upload(v.segment(left, cols * kFactorStep).reshaped(cols, kFactorStep), out.factors.right);
    out.slack = v[v.size() - 1];
    return out;
  }
};

/// Nocedal and Wright, Algorithm 7.4, with the usual first scaling.
VectorXd two_loops(const std::deque<std::pair<VectorXd, VectorXd>>& pairs, const VectorXd& gradient) {
  VectorXd q = gradient;
  std::vector<double> alpha(pairs.size());
  for (std::size_t k = pairs.size(); k-- > 0;) {
    const auto& [s, y] = pairs[k];
    alpha[k] = s.dot(q) / s.dot(y);
    q -= alpha[k] * y;
  }
  if (!pairs.empty()) q *= pairs.back().first.dot(pairs.back().second) / pairs.back().second.squaredNorm();
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto& [s, y] = pairs[k];
    q += (alpha[k] - y.dot(q) / s.dot(y)) * s;
  }
  return -q;
}

/// A symmetric matrix with these eigenvalues, over and over, in a random basis.
MatrixXd with_eigenvalues(const std::vector<double>& values, Eigen::Index n, Random& random) {
  const MatrixXd q = test::dense_svd(test::normal_matrix(n, n, random)).u;
  VectorXd spectrum(n);
  for (Eigen::Index i = 0; i < n; ++i) spectrum[i] = values[static_cast<std::size_t>(i) % values.size()];
  return q * spectrum.asDiagonal() * q.transpose();
}

TEST(QuasiNewton, MatchesTheTwoLoopRecursion) {
  Random random(3);
  Vectors vectors;
  const MatrixXd a = with_eigenvalues({0.5, 1, 1.7, 3, 8, 20}, vectors.size(), random);
  VectorXd z = test::unit(random, vectors.size());
  QuasiNewton method(vectors.panels, kMemory);
  std::deque<std::pair<VectorXd, VectorXd>> pairs;
  DescentPoint gradient = vectors.point(a * z);
  method.begin(gradient);
  DescentPoint direction = vectors.make();
  for (int k = 0; k < 3 * kMemory; ++k) {  // the memory is full after a third of them
    const VectorXd g = vectors.dense(gradient);
    const double slope = method.direction(direction);
    const VectorXd d = vectors.dense(direction);
    const VectorXd expected = two_loops(pairs, g);
    ASSERT_LT((d - expected).norm(), 1e-4 * expected.norm()) << k;
    EXPECT_NEAR(slope, g.dot(expected), 1e-4 * std::abs(slope)) << k;
    EXPECT_LT(slope, 0) << k;
    const double t = 0.2 + 0.05 * (k % 5);  // no step in particular
    z += t * d;
    const DescentPoint next = vectors.point(a * z);
    method.learn(direction, t, next);
    pairs.emplace_back(t * d, vectors.dense(next) - g);
    if (pairs.size() > kMemory) pairs.pop_front();
    gradient = next;
  }
}

TEST(QuasiNewton, ExactStepsOnAQuadraticAreConjugateAndEndAsCgDoes) {
  Random random(4);
  Vectors vectors;
  const std::vector<double> eigenvalues{1, 2, 5, 9};  // as many steps
  const MatrixXd a = with_eigenvalues(eigenvalues, vectors.size(), random);
  const VectorXd best = test::unit(random, vectors.size());
  VectorXd z = VectorXd::Zero(vectors.size());
  QuasiNewton method(vectors.panels, kMemory);
  DescentPoint gradient = vectors.point(a * (z - best));
  const double first = vectors.dense(gradient).norm();
  method.begin(gradient);
  DescentPoint direction = vectors.make();
  std::vector<VectorXd> taken;
  for (std::size_t k = 0; k < eigenvalues.size(); ++k) {
    method.direction(direction);
    const VectorXd d = vectors.dense(direction);
    for (const VectorXd& earlier : taken) {
      EXPECT_LT(std::abs(d.dot(a * earlier)), 1e-4 * std::sqrt(d.dot(a * d) * earlier.dot(a * earlier))) << k;
    }
    const double t = -d.dot(vectors.dense(gradient)) / d.dot(a * d);
    z += t * d;
    gradient = vectors.point(a * (z - best));
    if (k + 1 < eigenvalues.size()) {
      EXPECT_GT(vectors.dense(gradient).norm(), 1e-3 * first) << "not before its time";
    }
    method.learn(direction, t, gradient);
    taken.push_back(d);
  }
  EXPECT_LT(vectors.dense(gradient).norm(), 1e-5 * first);
}

TEST(QuasiNewton, AStepWithoutCurvatureIsForgottenWithAllBeforeIt) {
  Random random(5);
  Vectors vectors;
  QuasiNewton method(vectors.panels, kMemory);
  const VectorXd g = test::unit(random, vectors.size());
  const DescentPoint gradient = vectors.point(g);
  method.begin(gradient);
  DescentPoint direction = vectors.make();
  method.direction(direction);
  method.learn(direction, 1, vectors.point(0.5 * g));  // g falls along -g: curvature
  method.direction(direction);
  EXPECT_LT((vectors.dense(direction) + g).norm(), 1e-5) << "half the gradient, twice the step";
  method.learn(direction, 1, vectors.point(0.7 * g));  // and grows again along -g: none
  method.direction(direction);
  EXPECT_LT((vectors.dense(direction) + 0.7 * g).norm(), 1e-5) << "steepest descent, with no memory of the first step";
}

}  // namespace
}  // namespace tracenorm::methods
