#include "methods/quasi_newton.hpp"

#include <cmath>

namespace tracenorm::methods {

namespace {

/// A step whose curvature is below this share of what its length and change would allow says nothing reliable.
constexpr double kLeastCurvature = 1e-6;

}  // namespace

QuasiNewton::QuasiNewton(Panels& panels, int memory)
    : panels_(panels),
      memory_(memory),
      products_(2 * memory + 1),
      right_products_(2 * memory + 1),
      coefficients_(2 * memory + 1),
      alpha_(static_cast<std::size_t>(memory)) {
  order_.reserve(alpha_.size());
}

void QuasiNewton::multiply(int which) {
  const DescentPoint& v = vector(which);
  panels_.gram(lefts_, v.factors.left.flat(), products_);
  panels_.gram(rights_, v.factors.right.flat(), right_products_);
  products_ += right_products_;
  for (int k = 0; k <= gradient_slot(); ++k) products_[k] += vector(k).slack * v.slack;
  inner_.row(which) = products_.transpose();
  inner_.col(which) = products_;
}

void QuasiNewton::begin(const DescentPoint& gradient) {
  const Index columns = gradient.factors.left.columns();
  if (vectors_.empty() || vectors_[0].factors.left.columns() != columns) {
    vectors_.clear();
    lefts_.clear();
    rights_.clear();
    for (int k = 0; k < gradient_slot(); ++k) {
      vectors_.push_back(make_point(panels_, columns));
      lefts_.push_back(vectors_.back().factors.left.flat());
      rights_.push_back(vectors_.back().factors.right.flat());
    }
    vectors_.emplace_back();
    lefts_.emplace_back();
    rights_.emplace_back();
  }
  inner_.setZero(2 * memory_ + 1, 2 * memory_ + 1);
  order_.clear();
  refer_to(gradient);
  multiply(gradient_slot());
}

void QuasiNewton::refer_to(const DescentPoint& gradient) {
  vectors_.back() = gradient;
  lefts_.back() = gradient.factors.left.flat();
  rights_.back() = gradient.factors.right.flat();
}

void QuasiNewton::learn(const DescentPoint& direction, double t, const DescentPoint& gradient) {
  const bool full = static_cast<int>(order_.size()) == memory_;
  const int slot = full ? order_.front() : static_cast<int>(order_.size());
  if (full) order_.erase(order_.begin());
  add(panels_, 0, t, direction, vector(slot));
  add(panels_, 0, 1, gradient, vector(change_of(slot)));
  add(panels_, 1, -1, vector(gradient_slot()), vector(change_of(slot)));
  refer_to(gradient);
  for (const int which : {slot, change_of(slot), gradient_slot()}) multiply(which);
  const double curvature = inner_(slot, change_of(slot));
  const double most = std::sqrt(inner_(slot, slot) * inner_(change_of(slot), change_of(slot)));
  if (curvature > kLeastCurvature * most) {
    order_.push_back(slot);
  } else {
    order_.clear();  // slots are filled from the first again
  }
}

double QuasiNewton::direction(DescentPoint& out) {
  // The two loops of L-BFGS on coefficients of the remembered vectors.
  Eigen::VectorXd& c = coefficients_;
  c.setZero();
  c[gradient_slot()] = -1;
  for (std::size_t k = order_.size(); k-- > 0;) {
    const int s = order_[k];
    alpha_[k] = inner_.row(s).dot(c) / inner_(s, change_of(s));
    c[change_of(s)] -= alpha_[k];
  }
  if (!order_.empty()) {
    const int s = order_.back();
    c *= inner_(s, change_of(s)) / inner_(change_of(s), change_of(s));
  }
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const int s = order_[k];
    c[s] += alpha_[k] - inner_.row(change_of(s)).dot(c) / inner_(s, change_of(s));
  }
  panels_.combine(0, lefts_, c, out.factors.left.flat());
  panels_.combine(0, rights_, c, out.factors.right.flat());
  out.slack = 0;
  for (int k = 0; k <= gradient_slot(); ++k) out.slack += c[k] * vector(k).slack;
  return inner_.row(gradient_slot()).dot(c);
}

}  // namespace tracenorm::methods
