// Directions against the two-loop recursion of L-BFGS on plain vectors, and what is known of them on quadratics.
#include "methods/quasi_newton.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
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
  [[nodiscard]] Eigen::Index size() const { return (rows + cols) * kFactorStep + 1; }
  VectorXd dense(const DescentPoint& point) {
    VectorXd out(size());
    out << panels.download(point.factors.left).reshaped(), panels.download(point.factors.right).reshaped(), point.slack;
    return out;
  }
  void put(const VectorXd& v, DescentPoint& out) {
    const Eigen::Index left = rows * kFactorStep;
    panels.upload(v.head(left).reshaped(rows, kFactorStep), out.factors.left);
    panels.upload(v.segment(left, cols * kFactorStep).reshaped(cols, kFactorStep), out.factors.right);
    out.slack = v[v.size() - 1];
  }
};

/// Beginning at this gradient, and learning the one that a step of t has led to.
void begin(QuasiNewton& method, Vectors& vectors, const VectorXd& gradient) {
  method.prepare(kFactorStep);
  vectors.put(gradient, method.gradient());
  method.begin();
}
void learn(QuasiNewton& method, Vectors& vectors, double t, const VectorXd& gradient) {
  vectors.put(gradient, method.next_gradient());
  method.learn(t);
}

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
  begin(method, vectors, a * z);
  for (int k = 0; k < 3 * kMemory; ++k) {  // the memory is full after a third of them
    const VectorXd g = vectors.dense(method.gradient());
    const double slope = method.direction();
    const VectorXd d = vectors.dense(method.step());
    const VectorXd expected = two_loops(pairs, g);
    ASSERT_LT((d - expected).norm(), 1e-4 * expected.norm()) << k;
    EXPECT_NEAR(slope, g.dot(expected), 1e-4 * std::abs(slope)) << k;
    EXPECT_LT(slope, 0) << k;
    const double t = 0.2 + 0.05 * (k % 5);  // no step in particular
    z += t * d;
    learn(method, vectors, t, a * z);
    pairs.emplace_back(t * d, vectors.dense(method.gradient()) - g);
    if (pairs.size() > kMemory) pairs.pop_front();
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
  VectorXd gradient = a * (z - best);
  const double first = gradient.norm();
  begin(method, vectors, gradient);
  std::vector<VectorXd> taken;
  for (std::size_t k = 0; k < eigenvalues.size(); ++k) {
    method.direction();
    const VectorXd d = vectors.dense(method.step());
    for (const VectorXd& earlier : taken) {
      EXPECT_LT(std::abs(d.dot(a * earlier)), 1e-4 * std::sqrt(d.dot(a * d) * earlier.dot(a * earlier))) << k;
    }
    const double t = -d.dot(gradient) / d.dot(a * d);
    z += t * d;
    gradient = a * (z - best);
    if (k + 1 < eigenvalues.size()) {
      EXPECT_GT(gradient.norm(), 1e-3 * first) << "not before its time";
    }
    learn(method, vectors, t, gradient);
    taken.push_back(d);
  }
  EXPECT_LT(gradient.norm(), 1e-5 * first);
}

TEST(QuasiNewton, AStepWithoutCurvatureIsForgottenWithAllBeforeIt) {
  Random random(5);
  Vectors vectors;
  QuasiNewton method(vectors.panels, kMemory);
  const VectorXd g = test::unit(random, vectors.size());
  begin(method, vectors, g);
  method.direction();
  learn(method, vectors, 1, 0.5 * g);  // g falls along -g: curvature
  method.direction();
  EXPECT_LT((vectors.dense(method.step()) + g).norm(), 1e-5) << "half the gradient, twice the step";
  learn(method, vectors, 1, 0.7 * g);  // and grows again along -g: none
  method.direction();
  EXPECT_LT((vectors.dense(method.step()) + 0.7 * g).norm(), 1e-5)
      << "steepest descent, with no memory of the first step";
}

TEST(QuasiNewton, WhatATrialLeftBehindIsNotMet) {
  Random random(6);
  Vectors vectors;
  QuasiNewton method(vectors.panels, kMemory);
  const VectorXd g = test::unit(random, vectors.size());
  begin(method, vectors, g);
  for (int k = 0; k < kMemory - 1; ++k) {
    method.direction();
    learn(method, vectors, 1, (0.8 - 0.1 * k) * g);
  }
  method.direction();
  vectors.put(VectorXd::Constant(vectors.size(), std::numeric_limits<double>::infinity()), method.next_gradient());
  vectors.put(g, method.gradient());
  method.begin();  // the step was none
  for (int k = 0; k < kMemory; ++k) {
    method.direction();
    EXPECT_TRUE(vectors.dense(method.step()).allFinite()) << k;
    learn(method, vectors, 1, (0.8 - 0.1 * k) * g);
  }
}

}  // namespace
}  // namespace tracenorm::methods
