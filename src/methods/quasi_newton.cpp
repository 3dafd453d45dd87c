#include "methods/quasi_newton.hpp"

#include <cmath>
#include <utility>

namespace tracenorm::methods {

namespace {

/// A step whose curvature is below this share of what its length and change would allow says nothing reliable.
constexpr double kLeastCurvature = 1e-6;

}  // namespace

QuasiNewton::QuasiNewton(Panels& panels, int memory)
    : panels_(panels),
      memory_(memory),
      inner_(2 * memory + 1, 2 * memory + 1),
      products_(2 * memory + 1),
      right_products_(2 * memory + 1),
      coefficients_(2 * memory + 1),
      alpha_(static_cast<std::size_t>(memory)) {
  order_.reserve(alpha_.size());
  listed_.reserve(2 * alpha_.size() + 1);
  lefts_.reserve(2 * alpha_.size() + 1);
  rights_.reserve(2 * alpha_.size() + 1);
}

void QuasiNewton::prepare(Index columns) {
  if (gradient_.factors.left && gradient_.factors.left.columns() == columns) return;
  release();
  for (int k = 0; k < memory_; ++k) {
    steps_.push_back(make_point(panels_, columns));
    changes_.push_back(make_point(panels_, columns));
  }
  gradient_ = make_point(panels_, columns);
}

void QuasiNewton::release() {
  order_.clear();
  lefts_.clear();
  rights_.clear();
  steps_.clear();
  changes_.clear();
  gradient_ = {};
}

DescentPoint& QuasiNewton::point(int which) {
  if (which == gradient_slot()) return gradient_;
  return which < memory_ ? steps_[static_cast<std::size_t>(which)]
                         : changes_[static_cast<std::size_t>(which - memory_)];
}

void QuasiNewton::list(std::span<const int> slots) {
  listed_.clear();
  lefts_.clear();
  rights_.clear();
  const auto take = [&](int which) {
    listed_.push_back(which);
    lefts_.push_back(point(which).factors.left.flat());
    rights_.push_back(point(which).factors.right.flat());
  };
  for (const int slot : slots) {
    take(slot);
    take(change_of(slot));
  }
  take(gradient_slot());
}

void QuasiNewton::multiply(int which) {
  const DescentPoint& v = point(which);
  auto products = products_.head(static_cast<Eigen::Index>(listed_.size()));
  auto of_right = right_products_.head(products.size());
  panels_.gram(lefts_, v.factors.left.flat(), products);
  panels_.gram(rights_, v.factors.right.flat(), of_right);
  products += of_right;
  for (std::size_t k = 0; k < listed_.size(); ++k) {
    const int other = listed_[k];
    const double product = products[static_cast<Eigen::Index>(k)] + point(other).slack * v.slack;
    inner_(which, other) = inner_(other, which) = product;
  }
}

void QuasiNewton::begin() {
  order_.clear();
  inner_.setZero();
  inner_(gradient_slot(), gradient_slot()) = dot(panels_, gradient_, gradient_);
}

void QuasiNewton::learn(double t) {
  const auto slot = static_cast<int>(free_slot());
  if (static_cast<int>(order_.size()) == memory_) order_.erase(order_.begin());
  DescentPoint& step = point(slot);
  DescentPoint& change = point(change_of(slot));
  add(panels_, 0, t, step, step);
  add(panels_, -1, 1, change, gradient_);  // what was the gradient is its change now
  std::swap(gradient_, change);
  order_.push_back(slot);
  list(order_);
  for (const int which : {slot, change_of(slot), gradient_slot()}) multiply(which);
  const double curvature = inner_(slot, change_of(slot));
  const double most = std::sqrt(inner_(slot, slot) * inner_(change_of(slot), change_of(slot)));
  if (!(curvature > kLeastCurvature * most)) order_.clear();  // slots are filled from the first again
}

double QuasiNewton::direction() {
  // The two loops of L-BFGS on coefficients of the remembered points.
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
  // Where no slot is free the oldest step gives its place, and takes part.
  DescentPoint& out = step();
  const bool full = static_cast<int>(order_.size()) == memory_;
  const double keep = full ? c[order_.front()] : 0;
  double slack = full ? keep * out.slack : 0;
  list(order_);
  if (full) {
    listed_.erase(listed_.begin());
    lefts_.erase(lefts_.begin());
    rights_.erase(rights_.begin());
  }
  auto weights = products_.head(static_cast<Eigen::Index>(listed_.size()));
  for (std::size_t k = 0; k < listed_.size(); ++k) {
    weights[static_cast<Eigen::Index>(k)] = c[listed_[k]];
    slack += c[listed_[k]] * point(listed_[k]).slack;
  }
  panels_.combine(keep, lefts_, weights, out.factors.left.flat());
  panels_.combine(keep, rights_, weights, out.factors.right.flat());
  out.slack = slack;
  return inner_.row(gradient_slot()).dot(c);
}

}  // namespace tracenorm::methods
