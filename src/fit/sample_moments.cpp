#include "fit/sample_moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/lapack.hpp"

namespace tracenorm {

namespace {

/// Of a normal distribution, the median distance from the median times this is the deviation.
constexpr double kDeviationOfMedian = 1.4826;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

/// a' a, both triangles.
Eigen::MatrixXd square(const Eigen::MatrixXd& a) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(a.cols(), a.cols());
  lapack::add_square(lapack::Shape::transposed, static_cast<Index>(a.cols()), static_cast<Index>(a.rows()), a.data(),
                     static_cast<Index>(a.rows()), 0, out.data());
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
  return out;
}

}  // namespace

Moments& Moments::operator-=(const Moments& part) {
  count -= part.count;
  sum -= part.sum;
  product -= part.product;
  return *this;
}

Moments sample_moments(const Samples& samples, const std::vector<Index>& which) {
  const auto n = static_cast<Eigen::Index>(which.size());
  const Eigen::Index p = samples.variables;
  Eigen::MatrixXd value(n, p);
  Eigen::MatrixXd there = Eigen::MatrixXd::Ones(n, p);
  for (Eigen::Index s = 0; s < n; ++s) {
    const double* row = samples.value.data() + static_cast<Offset>(which[static_cast<std::size_t>(s)]) * p;
    for (Eigen::Index j = 0; j < p; ++j) {
      there(s, j) = std::isnan(row[j]) ? 0 : 1;
      value(s, j) = std::isnan(row[j]) ? 0 : row[j];
    }
  }
  const lapack::OneThread one;
  Moments out;
  out.product = square(value);
  if (there.minCoeff() == 1) {  // the usual case, a third of the work
    out.count = Eigen::MatrixXd::Constant(p, p, static_cast<double>(n));
    out.sum = value.colwise().sum().transpose().replicate(1, p);
  } else {
    out.count = square(there);
    out.sum = lapack::product(value.transpose(), there);
  }
  return out;
}

double pair_covariance(const Moments& moments, Index i, Index j, double least) {
  const double n = moments.count(i, j);
  if (n < std::max(least, 2.0)) return std::numeric_limits<double>::quiet_NaN();
  return (moments.product(i, j) - moments.sum(i, j) * moments.sum(j, i) / n) / (n - 1);
}

std::vector<std::size_t> far_values(const Samples& samples) {
  const auto stride = static_cast<std::size_t>(samples.variables);
  std::vector<std::size_t> far;
  std::vector<double> known;
  for (std::size_t j = 0; j < stride; ++j) {
    known.clear();
    for (std::size_t at = j; at < samples.value.size(); at += stride)
      if (!std::isnan(samples.value[at])) known.push_back(samples.value[at]);
    if (known.empty()) continue;
    const double middle = median(known);
    for (double& value : known) value = std::abs(value - middle);
    const double limit = kFarValue * kDeviationOfMedian * median(known);
    if (!(limit > 0)) continue;
    for (std::size_t at = j; at < samples.value.size(); at += stride)
      if (std::abs(samples.value[at] - middle) > limit) far.push_back(at);
  }
  return far;
}

}  // namespace tracenorm
