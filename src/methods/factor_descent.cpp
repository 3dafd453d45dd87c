#include "methods/factor_descent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"

namespace tracenorm::methods {

namespace {

constexpr int kMemory = 6;
constexpr Index kRowBlock = 512;

/// The part of the radius that s gets when X should shrink: from s = 0 it could not grow.
constexpr double kLeastSlack = 1e-3;

/// Length of the step that measures the curvature, as a share of the point.
constexpr double kProbe = 1e-3;

/// Stop when the gradient has fallen to this share.
constexpr double kSettled = 1e-3;

/// Terms below this share of the sum of all are left out.
constexpr double kNegligible = 1e-7;

double inner(const Eigen::Matrix<Real, Eigen::Dynamic, 1>& a, const Eigen::Matrix<Real, Eigen::Dynamic, 1>& b) {
  constexpr Eigen::Index block = 4096;
  double sum = 0;
  for (Eigen::Index from = 0; from < a.size(); from += block) {
    const Eigen::Index count = std::min(block, a.size() - from);
    sum += double(a.segment(from, count).dot(b.segment(from, count)));
  }
  return sum;
}

}  // namespace

FactorDescent::FactorDescent(Evaluator& f) : f_(f), curvature_(kMemory) {}

template <class Work>
void FactorDescent::for_rows(Work&& work) {
  const Index left_blocks = (factors_.rows() + kRowBlock - 1) / kRowBlock;
  const Index right_blocks = (factors_.cols() + kRowBlock - 1) / kRowBlock;
  for_each_shard(left_blocks + right_blocks, [&](int b) {
    const bool left = b < left_blocks;
    const Index first = (left ? b : b - left_blocks) * kRowBlock;
    const Index rows = std::min(kRowBlock, (left ? factors_.rows() : factors_.cols()) - first);
    const Index base = left ? 0 : factors_.rows();
    work(b, static_cast<Offset>(base + first) * factors_.width(), rows, left ? left_stretch_ : right_stretch_);
  });
}

double FactorDescent::unstretch(const Vector& point) {
  const auto width = static_cast<Eigen::Index>(factors_.width());
  std::vector<double> squares(static_cast<std::size_t>((factors_.rows() + factors_.cols()) / kRowBlock + 2), 0.0);
  for_rows([&](int b, Offset from, Index rows, const Vector& stretch) {
    const Eigen::Map<const Factors::Matrix> in(point.data() + from, rows, width);
    Eigen::Map<Factors::Matrix> out(factors_.values().data() + from, rows, width);
    double sum = 0;
    for (Index i = 0; i < rows; ++i) {
      out.row(i) = in.row(i).cwiseProduct(stretch.transpose());
      sum += double(out.row(i).squaredNorm());
    }
    squares[static_cast<std::size_t>(b)] = sum;
  });
  const double s = double(slack_stretch_) * double(point[point.size() - 1]);
  double sum = s * s;
  for (const double part : squares) sum += part;
  return sum / 2;
}

void FactorDescent::evaluate(const Vector& point, Vector& gradient) {
  const double n = unstretch(point);
  const double scale = f_.radius() / n;
  const Linearization model = f_.factor_gradient(factors_, scale, width_, products_);
  const double q = model.inner / n;
  multiplier_ = -q;
  gradient.resize(point.size());
  const auto width = static_cast<Eigen::Index>(factors_.width());
  for_rows([&](int, Offset from, Index rows, const Vector& stretch) {
    const Eigen::Map<const Factors::Matrix> at(factors_.values().data() + from, rows, width);
    const Eigen::Map<const Factors::Matrix> product(products_.values().data() + from, rows, width);
    Eigen::Map<Factors::Matrix> out(gradient.data() + from, rows, width);
    for (Index i = 0; i < rows; ++i) {
      out.row(i) = (Real(scale) * product.row(i) - Real(q) * at.row(i)).cwiseProduct(stretch.transpose());
    }
  });
  const Eigen::Index last = point.size() - 1;
  gradient[last] = Real(-q) * slack_stretch_ * slack_stretch_ * point[last];
}

void FactorDescent::precondition() {
  // With columns of left and right orthogonal, the curvature along left column k is about h |right_k|^2 + multiplier,
  // and the other way round: h is the mean curvature of the entries, spread over the columns.
  const auto width = static_cast<Eigen::Index>(factors_.width());
  left_stretch_.setOnes(width);
  right_stretch_.setOnes(width);
  slack_stretch_ = 1;
  evaluate(point_, gradient_);
  Real& s = point_[point_.size() - 1];
  const Real least_s = Real(std::sqrt(2 * kLeastSlack * f_.radius()));
  if (multiplier_ < 0 && s < least_s) {
    s = least_s;
    evaluate(point_, gradient_);
  }
  const Vector left_square = factors_.left().colwise().squaredNorm().transpose();
  const Vector right_square = factors_.right().colwise().squaredNorm().transpose();
  const double slope = inner(gradient_, gradient_);
  if (!(slope > 0)) return;
  const double t = kProbe * std::sqrt(2 * f_.radius() / slope);
  const double worth = multiplier_;
  trial_ = point_ - Real(t) * gradient_;
  evaluate(trial_, trial_gradient_);
  const double bend = t * (slope - inner(gradient_, trial_gradient_));
  const Eigen::Map<const Factors::Matrix> left(gradient_.data(), factors_.rows(), width);
  const Eigen::Map<const Factors::Matrix> right(gradient_.data() + factors_.left().size(), factors_.cols(), width);
  const double weighted = double(left.colwise().squaredNorm().dot(right_square.transpose())) +
                          double(right.colwise().squaredNorm().dot(left_square.transpose()));
  const double h = std::max(0.0, bend - worth * t * t * slope) / std::max(1e-300, t * t * weighted);
  const double largest = std::max(double(left_square.maxCoeff()), double(right_square.maxCoeff()));
  const double least = std::max(worth, 1e-3 * h * largest);
  if (!(least > 0)) return;
  left_stretch_ = (h * right_square.cast<double>().array() + least).rsqrt().cast<Real>();
  right_stretch_ = (h * left_square.cast<double>().array() + least).rsqrt().cast<Real>();
  slack_stretch_ = Real(1 / std::sqrt(least));
  for_rows([&](int, Offset from, Index rows, const Vector& stretch) {
    Eigen::Map<Factors::Matrix> at(point_.data() + from, rows, width);
    Eigen::Map<Factors::Matrix> gradient(gradient_.data() + from, rows, width);
    for (Index i = 0; i < rows; ++i) {
      at.row(i) = at.row(i).cwiseQuotient(stretch.transpose());
      gradient.row(i) = gradient.row(i).cwiseProduct(stretch.transpose());
    }
  });
  point_[point_.size() - 1] /= slack_stretch_;
  gradient_[point_.size() - 1] *= slack_stretch_;
}

double FactorDescent::search(double slope) {
  // Derivatives alone decide: the smoothed objective has a slope in closed form for every loss, but not a value. A step
  // is good when it ends where the slope has flattened, but not far beyond the lowest point.
  constexpr int kTrials = 8;
  constexpr double kFlat = 0.9;
  constexpr double kBeyond = 0.5;
  double low = 0;
  double low_slope = slope;
  double high = 0;
  double t = 1;
  for (int trial = 0; trial < kTrials; ++trial) {
    trial_ = point_ + Real(t) * direction_;
    evaluate(trial_, trial_gradient_);
    const double there = inner(trial_gradient_, direction_);
    if (!std::isfinite(there)) {
      high = t;
      t = low + 0.1 * (high - low);
    } else if (there > -kBeyond * slope) {
      high = t;
      t = low + (high - low) * std::clamp(low_slope / (low_slope - there), 0.1, 0.9);
    } else if (there < kFlat * slope && trial < 3) {
      low = t;
      low_slope = there;
      t = high > 0 ? (low + high) / 2 : 2.5 * t;
    } else {
      return t;
    }
  }
  return 0;
}

LowRankMatrix FactorDescent::descend(const LowRankMatrix& x, double width, int steps,
                                     const std::function<bool()>& stop) {
  if (x.terms() == 0) return x;
  width_ = width;
  factors_ = Factors(x);
  factors_.rotate();
  const auto size = static_cast<Eigen::Index>(factors_.values().size()) + 1;
  point_.resize(size);
  point_.head(size - 1) = Eigen::Map<const Vector>(factors_.values().data(), size - 1);
  const double radius = f_.radius();
  point_[size - 1] = Real(std::sqrt(2 * std::max(0.0, radius - factors_.half_square())));
  precondition();
  curvature_.begin(gradient_);
  const double settled = kSettled * kSettled * inner(gradient_, gradient_);
  int failures = 0;
  for (int k = 0; k < steps && failures < 2 && !stop(); ++k) {
    const double slope = curvature_.direction(direction_);
    const double t = slope < 0 ? search(slope) : 0;
    if (t == 0) {
      ++failures;
      evaluate(point_, gradient_);
      curvature_.begin(gradient_);
      continue;
    }
    failures = 0;
    point_.swap(trial_);
    gradient_.swap(trial_gradient_);
    curvature_.learn(direction_, t, gradient_);
    if (inner(gradient_, gradient_) <= settled) break;
  }
  const double s = double(slack_stretch_) * double(point_[size - 1]);
  unstretch(point_);
  factors_.rotate();
  const double n = factors_.half_square() + s * s / 2;  // after the last rounding of the factors
  return factors_.to_low_rank(radius / n, kNegligible);
}

}  // namespace tracenorm::methods
