#include "linalg/quasi_newton.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "linalg/blas.hpp"

namespace tracenorm {

namespace {

/// Blocks of all remembered vectors stay in the second cache.
constexpr Eigen::Index kBlock = 4096;

/// A step whose curvature is below this share of what its length and change would allow says nothing reliable.
constexpr double kLeastCurvature = 1e-6;

}  // namespace

int QuasiNewton::blocks() const { return static_cast<int>((size_ + kBlock - 1) / kBlock); }

template <class Work>
void QuasiNewton::multiply(std::initializer_list<int> which, Work&& before) {
  const int count = 2 * memory_ + 1;
  const auto asked = static_cast<Eigen::Index>(which.size());
  partial_.resize(static_cast<std::size_t>(blocks()));
  for_each_shard(blocks(), [&](int b) {
    const Eigen::Index from = b * kBlock;
    const Eigen::Index length = std::min(kBlock, size_ - from);
    before(from, length);
    Vector& part = partial_[static_cast<std::size_t>(b)];
    part.resize(count * asked);
    Real* to = part.data();
    for (const int vector : which) {
      blas::gemv(blas::Shape::plain, count, static_cast<int>(length), rows_.data() + from, static_cast<int>(size_),
                 row(vector) + from, 0, to);
      to += count;
    }
  });
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(count * asked);
  for (const Vector& part : partial_) sum += part.cast<double>();
  Eigen::Index at = 0;
  for (const int vector : which) {
    inner_.row(vector) = sum.segment(at, count).transpose();
    inner_.col(vector) = sum.segment(at, count);
    at += count;
  }
}

void QuasiNewton::begin(const Vector& gradient) {
  blas::use_one_thread();
  size_ = gradient.size();
  rows_.assign(static_cast<std::size_t>((2 * memory_ + 1) * size_), Real(0));
  inner_.setZero(2 * memory_ + 1, 2 * memory_ + 1);
  order_.clear();
  std::copy(gradient.begin(), gradient.end(), row(gradient_row()));
  multiply({gradient_row()}, [](Eigen::Index, Eigen::Index) {});
}

void QuasiNewton::learn(const Vector& direction, double t, const Vector& gradient) {
  const bool full = static_cast<int>(order_.size()) == memory_;
  const int slot = full ? order_.front() : static_cast<int>(order_.size());
  if (full) order_.erase(order_.begin());
  using Segment = Eigen::Map<Vector>;
  multiply({slot, change_of(slot), gradient_row()}, [&](Eigen::Index from, Eigen::Index length) {
    Segment old(row(gradient_row()) + from, length);
    Segment(row(slot) + from, length) = Real(t) * direction.segment(from, length);
    Segment(row(change_of(slot)) + from, length) = gradient.segment(from, length) - old;
    old = gradient.segment(from, length);
  });
  const double curvature = inner_(slot, change_of(slot));
  const double most = std::sqrt(inner_(slot, slot) * inner_(change_of(slot), change_of(slot)));
  if (curvature > kLeastCurvature * most) {
    order_.push_back(slot);
  } else {
    order_.clear();  // slots are filled from the first again
  }
}

double QuasiNewton::direction(Vector& out) {
  // The two loops of L-BFGS on coefficients of the remembered vectors.
  Eigen::VectorXd c = Eigen::VectorXd::Zero(2 * memory_ + 1);
  c[gradient_row()] = -1;
  std::vector<double> alpha(order_.size());
  for (std::size_t k = order_.size(); k-- > 0;) {
    const int s = order_[k];
    alpha[k] = inner_.row(s).dot(c) / inner_(s, change_of(s));
    c[change_of(s)] -= alpha[k];
  }
  if (!order_.empty()) {
    const int s = order_.back();
    c *= inner_(s, change_of(s)) / inner_(change_of(s), change_of(s));
  }
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const int s = order_[k];
    c[s] += alpha[k] - inner_.row(change_of(s)).dot(c) / inner_(s, change_of(s));
  }
  const Vector coefficients = c.cast<Real>();
  out.resize(size_);
  for_each_shard(blocks(), [&](int b) {
    const Eigen::Index from = b * kBlock;
    const Eigen::Index length = std::min(kBlock, size_ - from);
    blas::gemv(blas::Shape::transposed, 2 * memory_ + 1, static_cast<int>(length), rows_.data() + from,
               static_cast<int>(size_), coefficients.data(), 0, out.data() + from);
  });
  return inner_.row(gradient_row()).dot(c);
}

}  // namespace tracenorm
