#include "tracenorm/covariance.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "fit/sample_moments.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Groups of ten variables that share a factor, and noise of deviation `own`.
Samples grouped(Index count, Index groups, double own, std::uint64_t seed = 1) {
  Samples samples{count, 10 * groups, {}};
  Random random(seed);
  for (Index s = 0; s < count; ++s) {
    for (Index g = 0; g < groups; ++g) {
      const double factor = random.normal();
      for (Index k = 0; k < 10; ++k) samples.value.push_back(3 + (k + 1) * (factor + own * random.normal()));
    }
  }
  return samples;
}

std::string complaint(const Samples& samples, const CovarianceOptions& options = {}, const Labels& names = {}) {
  try {
    static_cast<void>(fit_covariance(samples, options, {}, names));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Of the Gaussian with one factor a group: off the groups zero.
Eigen::MatrixXd truth(Index groups, double own) {
  const Index p = 10 * groups;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(p, p);
  for (Index i = 0; i < p; ++i)
    for (Index j = 0; j < p; ++j)
      if (i / 10 == j / 10) out(i, j) = (i % 10 + 1) * (j % 10 + 1) * (1 + (i == j ? own * own : 0));
  return out;
}

// What pandas.DataFrame.cov() says of this table; the first two rows of its corner are numpy.cov's of four samples.
TEST(SampleMoments, AreThoseOfPandas) {
  const Samples samples{5, 3, {1, 2, 3, 2, 1, kNan, 4, 3, 1, 3, 5, 2, kNan, 4, 6}};
  const Moments moments = sample_moments(samples, {0, 1, 2, 3, 4});
  EXPECT_EQ(moments.count(0, 1), 4);
  EXPECT_EQ(moments.count(0, 2), 3);
  EXPECT_NEAR(pair_covariance(moments, 0, 0, 2), 5.0 / 3, 1e-12);
  EXPECT_NEAR(pair_covariance(moments, 0, 1, 2), 3.5 / 3, 1e-12);
  EXPECT_NEAR(pair_covariance(moments, 0, 2, 2), -1.5, 1e-12);
  EXPECT_NEAR(pair_covariance(moments, 1, 2, 2), 1.0 / 3, 1e-12);
  EXPECT_NEAR(pair_covariance(moments, 2, 1, 2), 1.0 / 3, 1e-12);
  EXPECT_TRUE(std::isnan(pair_covariance(moments, 0, 2, 4)));
  Moments rest = moments;
  rest -= sample_moments(samples, {4, 1});
  const Moments direct = sample_moments(samples, {0, 2, 3});
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) EXPECT_NEAR(pair_covariance(rest, i, j, 2), pair_covariance(direct, i, j, 2), 1e-12);
}

TEST(SampleMoments, FarValuesAreThoseBeyondTheMedianDistance) {
  Samples samples{7, 2, {}};
  for (const double value : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 100.0}) {
    samples.value.push_back(value);
    samples.value.push_back(value > 50 ? 1 : 0);  // more than half are one number
  }
  EXPECT_EQ(far_values(samples), std::vector<std::size_t>{12});  // median 4, median distance 2, limit 10.4
}

TEST(Covariance, FindsGroupsAndTheirZeros) {
  const CovarianceFit found = [] {
    CovarianceOptions options;
    options.fit.choose_l1 = true;
    options.fit.run.gap = 0.01;
    return fit_covariance(grouped(200, 3, 0.7), options);
  }();
  const Eigen::MatrixXd covariance = found.estimate.covariance();
  const Eigen::MatrixXd wanted = truth(3, 0.7);
  EXPECT_TRUE((covariance.array() == covariance.transpose().array()).all());
  EXPECT_LT((covariance - wanted).norm(), 0.3 * wanted.norm());
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(found.estimate.scaled).eigenvalues()(0), 0);
  EXPECT_GT(found.estimate.zeros, 75);  // of the 300 pairs between groups; what predicts best keeps many
  EXPECT_GT(std::get<L1Penalty>(found.fit.problem.penalty).lambda, 0);
  EXPECT_LE(found.fit.result.relative_gap, 0.01);
  EXPECT_GT(found.fit.path.size(), 5U);
  for (const RadiusStep& step : found.fit.path)
    EXPECT_GE(step.validation_error, found.fit.path[found.fit.path_best].validation_error);
}

TEST(Covariance, KeepsVariancesAndScales) {
  CovarianceOptions options;
  options.fit.radius = 5;
  const Samples samples = grouped(60, 2, 1.0);
  const CovarianceFit found = fit_covariance(samples, options);
  const Eigen::MatrixXd covariance = found.estimate.covariance();
  std::vector<Index> all(60);
  for (Index s = 0; s < 60; ++s) all[static_cast<std::size_t>(s)] = s;
  const Moments moments = sample_moments(samples, all);
  for (Index j = 0; j < 20; ++j)
    EXPECT_NEAR(covariance(j, j), pair_covariance(moments, j, j, 2), 1e-9 * covariance(j, j));
  EXPECT_NEAR(found.estimate.correlation()(3, 4), covariance(3, 4) / std::sqrt(covariance(3, 3) * covariance(4, 4)),
              1e-12);
  Samples shifted = samples;  // units do not matter
  for (double& value : shifted.value) value = 8 * value - 64;
  EXPECT_TRUE(fit_covariance(shifted, options).estimate.scaled.isApprox(found.estimate.scaled, 1e-5));
  const Precision precision = precision_of(found.estimate);
  EXPECT_EQ(precision.ridge, 0);
  EXPECT_TRUE((precision.matrix * covariance).isApprox(Eigen::MatrixXd::Identity(20, 20), 1e-8));
}

TEST(Covariance, SameBitsOnAnyThreads) {
  CovarianceOptions options;
  options.fit.choose_l1 = true;
  options.fit.run.gap = 0.01;
  Samples samples = grouped(50, 2, 0.8);
  for (std::size_t at = 0; at < samples.value.size(); at += 13) samples.value[at] = kNan;
  options.fit.run.threads = 1;
  const CovarianceFit one = fit_covariance(samples, options);
  options.fit.run.threads = 3;
  const CovarianceFit three = fit_covariance(samples, options);
  EXPECT_EQ(one.estimate.scaled, three.estimate.scaled);
  EXPECT_EQ(one.fit.problem.radius(), three.fit.problem.radius());
}

TEST(Covariance, OutliersAndHolesDoNotMatterMuch) {
  const Eigen::MatrixXd wanted = truth(2, 0.7);
  const auto error = [&](const Samples& samples, SampleEstimate estimate) {
    CovarianceOptions options;
    options.estimate = estimate;
    return (fit_covariance(samples, options).estimate.covariance() - wanted).norm() / wanted.norm();
  };
  const Samples clean = grouped(150, 2, 0.7);
  Samples spoiled = clean;
  Random random(7);
  for (double& value : spoiled.value) {
    const double draw = random.uniform();
    if (draw < 0.02) value = draw < 0.01 ? 300 : -300;
    if (draw > 0.9) value = kNan;
  }
  const double best = error(clean, SampleEstimate::plain);
  EXPECT_LT(error(spoiled, SampleEstimate::trimmed), best + 0.1);
  EXPECT_GT(error(spoiled, SampleEstimate::plain), 5 * best);
}

TEST(Covariance, PairsThatAreTooRareAreNotLookedAt) {
  Samples samples = grouped(40, 1, 0.5);
  for (std::size_t s = 0; s < 40; ++s) samples.value[s * 10 + (s < 20 ? 0 : 1)] = kNan;
  CovarianceOptions options;
  options.fit.radius = 9;
  const CovarianceFit found = fit_covariance(samples, options);  // 0 and 1 are never there together
  EXPECT_EQ(found.estimate.rare, 1);
  EXPECT_EQ(found.estimate.missing, 40);
  EXPECT_GT(found.estimate.correlation()(0, 1), 0.5);  // as the others have it
}

TEST(Covariance, OfASingularEstimateTheInverseHasARidge) {
  CovarianceEstimate estimate;
  estimate.deviation = Eigen::Vector2d(1, 2);
  estimate.scaled = Eigen::Matrix2d::Ones();
  const Precision precision = precision_of(estimate);
  EXPECT_NEAR(precision.ridge, 2e-6, 1e-9);
  EXPECT_TRUE(precision.matrix.allFinite());
}

TEST(Covariance, SaysWhichVariableIsWrong) {
  const Labels names{{"a", "b"}};
  EXPECT_NE(complaint({3, 2, {1, 5, 2, 5, 3, 5}}, {}, names).find("variable 'b' is 5 in every sample"),
            std::string::npos);
  for (const double unit : {1e160, 1e308, 1e-160, 1e-310}) {
    EXPECT_NE(
        complaint({4, 2, {1, unit, 2, -unit, 4, unit / 2, 3, -unit / 4}}, {}, names).find("variable 'b' has values"),
        std::string::npos)
        << unit;
  }
  EXPECT_NE(complaint({3, 2, {1, 1e-160, 2, 1e-160, 3, 1e-160}}, {}, names).find("is 1e-160 in every sample"),
            std::string::npos);
  EXPECT_NE(complaint({3, 2, {1, kNan, 2, 5, 3, kNan}}, {}, names).find("variable 'b' has one value in 3 samples"),
            std::string::npos);
  EXPECT_NE(complaint({1, 2, {1, 2}}).find("one sample of 2 variables"), std::string::npos);
  EXPECT_NE(complaint({2, 2, {1, 2, 2, 1}}).find("two samples are too few"), std::string::npos);
  EXPECT_NE(complaint({2, 1, {1, 2}}).find("one variable"), std::string::npos);
  EXPECT_NE(complaint({4, 2, {1, kNan, 2, kNan, kNan, 1, kNan, 2}}).find("no two variables have 3 samples in common"),
            std::string::npos);
}

TEST(Covariance, SamplesThatLeaveNothingToFoldsAreTooFew) {
  EXPECT_NE(complaint(grouped(3, 1, 1)).find("in 3 samples without a fold of them"), std::string::npos);
  CovarianceOptions options;
  options.least_pairs = 10;
  EXPECT_NE(complaint(grouped(10, 1, 1), options).find("the 10 samples that a covariance needs"), std::string::npos);
}

}  // namespace
}  // namespace tracenorm
