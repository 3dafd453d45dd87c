#include "methods/baselines/smoothed_absolute.hpp"

#include <algorithm>
#include <cmath>

namespace tracenorm::baselines {

namespace {

struct Sums {
  double smooth = 0;
  double error = 0;
  double square = 0;
  Sums& operator+=(const Sums& other) {
    smooth += other.smooth;
    error += other.error;
    square += other.square;
    return *this;
  }
};

}  // namespace

double SmoothedAbsolute::value(const FixedRankPoint& x, double d) {
  const auto count = static_cast<double>(data_.entries());
  data_.sample(x.u * x.s.asDiagonal(), x.v, slope_);  // the entries of X, replaced by slopes one by one
  const Sums sums = data_.sum([&](Offset e) -> Sums {
    double& slope = slope_[static_cast<std::size_t>(e)];
    const double entry = slope;
    const double error = entry - data_.value(e);
    const double weight = data_.weight(e);
    const double length = std::sqrt(d * d + error * error);
    slope = (weight * error / length - 2 * lambda_ * entry) / count;
    return {weight * length, weight * std::abs(error), entry * entry};
  });
  mean_error_ = sums.error / count;
  // Off the pattern nothing is formed: sum of X^2 there = |X|_F^2 - sum on the pattern.
  const double complement = std::max(0.0, x.s.squaredNorm() - sums.square);
  return (sums.smooth + lambda_ * complement) / count;
}

Tangent SmoothedAbsolute::gradient(const FixedRankPoint& x) const {
  Eigen::MatrixXd zv;
  Eigen::MatrixXd ztu;
  data_.apply(slope_, x.v, zv);
  data_.apply_transpose(slope_, x.u, ztu);
  Tangent gradient = project(x, zv, ztu);
  // 2 lambda X / K lies in the tangent space: only M sees it.
  gradient.m.diagonal() += 2 * lambda_ / static_cast<double>(data_.entries()) * x.s;
  return gradient;
}

}  // namespace tracenorm::baselines
