#include "methods/factor_descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "linalg/symmetric_eigen.hpp"

namespace tracenorm::methods {

namespace {

/// The part of the radius that s gets when X should shrink: from s = 0 it could not grow.
constexpr double kLeastSlack = 1e-3;

/// Length of the step that measures the curvature, as a share of the point.
constexpr double kProbe = 1e-3;

/// Stop when the gradient has fallen to this share.
constexpr double kSettled = 1e-3;

/// Terms below this share of the sum of all are left out.
constexpr double kNegligible = 1e-7;

/// Where the answer is kept there is room for so many terms more: a Frank-Wolfe step then need not move it.
constexpr Index kSpareRoom = 4;

}  // namespace

FactorDescent::FactorDescent(Evaluator& f, int memory) : f_(f), panels_(f.panels()), curvature_(panels_, memory) {
  Offsets& offsets = f.offsets();
  if (!offsets.active()) return;
  offsets_ = offsets.copy(offsets.now());
  offset_gradient_ = offsets.copy(offsets.now());
  offset_stretch_ = offsets.stretch();
  offset_shrink_ = offsets.copy(offsets.now());
  const auto invert = [&](const Panel& stretch, const Panel& out) {
    panels_.upload(panels_.download(stretch).cwiseInverse(), out);
  };
  invert(offset_stretch_.row, offset_shrink_.row);
  invert(offset_stretch_.col, offset_shrink_.col);
}

void FactorDescent::take_offsets(double t) {
  const Index last = point_.factors.left.columns() - 1;
  panels_.add(0, 1, point_.factors.left.column(last - 1), offsets_.row);
  panels_.add(0, 1, point_.factors.right.column(last), offsets_.col);
  if (t != 0) {
    panels_.add(1, t, curvature_.step().factors.left.column(last - 1), offsets_.row);
    panels_.add(1, t, curvature_.step().factors.right.column(last), offsets_.col);
  }
  panels_.scale_rows(offsets_.row, offset_stretch_.row);
  panels_.scale_rows(offsets_.col, offset_stretch_.col);
}

void FactorDescent::put_offsets(const OffsetPanels& offsets, const OffsetPanels& factors, const DescentPoint& point) {
  const Index last = point.factors.left.columns() - 1;
  panels_.scale_rows(offsets.row, factors.row);
  panels_.scale_rows(offsets.col, factors.col);
  panels_.add(0, 1, offsets.row, point.factors.left.column(last - 1));
  panels_.add(0, 1, offsets.col, point.factors.right.column(last));
}

void FactorDescent::learn_signs() {
  if (f_.symmetry() == Symmetry::none) return;
  signs_.resize(factors_.left.columns());
  for (Index k = 0; k < factors_.left.columns(); ++k) {
    signs_[k] = panels_.dot(factors_.left.column(k), factors_.right.column(k)) < 0 ? -1 : 1;
  }
}

void FactorDescent::mirror(const Panel& from, const Panel& to) { panels_.combine(0, from, diagonal(signs_), to); }

void FactorDescent::rotate_symmetric() {
  // Columns of one sign turn among themselves.
  const Eigen::MatrixXd gram = panels_.gram(factors_.right, factors_.right);
  Eigen::MatrixXd rotation = Eigen::MatrixXd::Zero(gram.rows(), gram.cols());
  for (const double sign : {1.0, -1.0}) {
    std::vector<Eigen::Index> own;
    for (Eigen::Index k = 0; k < signs_.size(); ++k) {
      if (signs_[k] == sign) own.push_back(k);
    }
    if (own.empty()) continue;
    const Eigen::MatrixXd vectors = symmetric_eigen(gram(own, own)).vectors.rowwise().reverse();
    rotation(own, own) = vectors;
  }
  panels_.combine(0, factors_.right, rotation, factors_.right);
  mirror(factors_.right, factors_.left);
}

void FactorDescent::rotate() {
  if (f_.symmetry() != Symmetry::none) return rotate_symmetric();
  Eigen::MatrixXd gram = panels_.gram(factors_.left, factors_.left);
  gram += panels_.gram(factors_.right, factors_.right);
  const Eigen::MatrixXd rotation = symmetric_eigen(gram).vectors.rowwise().reverse();
  panels_.combine(0, factors_.left, rotation, factors_.left);
  panels_.combine(0, factors_.right, rotation, factors_.right);
}

double FactorDescent::half_square() {
  return (panels_.dot(factors_.left.flat(), factors_.left.flat()) +
          panels_.dot(factors_.right.flat(), factors_.right.flat())) /
         2;
}

template <class Numbers>
const Eigen::MatrixXd& FactorDescent::diagonal(const Numbers& numbers) {
  diagonal_.setZero(numbers.size(), numbers.size());
  diagonal_.diagonal() = numbers;
  return diagonal_;
}

template <class Left, class Right>
void FactorDescent::stretch(double keep, const Left& left, const Right& right, double slack, const DescentPoint& in,
                            DescentPoint& out) {
  panels_.combine(keep, in.factors.left, diagonal(left), out.factors.left);
  panels_.combine(keep, in.factors.right, diagonal(right), out.factors.right);
  out.slack = keep * out.slack + slack * in.slack;
}

double FactorDescent::unstretch(double t) {
  DescentPoint plain{factors_, 0};
  stretch(0, left_stretch_, right_stretch_, slack_stretch_, point_, plain);
  if (t != 0) stretch(1, t * left_stretch_, t * right_stretch_, t * slack_stretch_, curvature_.step(), plain);
  return half_square() + plain.slack * plain.slack / 2;
}

void FactorDescent::evaluate(double t, DescentPoint& gradient) {
  const double n = unstretch(t);
  const double scale = f_.radius() / n;
  const bool with_offsets = f_.offsets().active();
  if (with_offsets) take_offsets(t);
  const Linearization model = f_.factor_gradient(factors_, scale, width_, gradient.factors, offsets_, offset_gradient_);
  if (f_.symmetry() != Symmetry::none) mirror(gradient.factors.left, gradient.factors.right);
  const double q = model.inner / n;
  multiplier_ = -q;
  DescentPoint product{gradient.factors, 0};
  stretch(0, scale * left_stretch_, scale * right_stretch_, 0, product, product);
  const auto shrink = [&](double steps, const DescentPoint& point) {
    stretch(1, -q * steps * left_stretch_.cwiseAbs2(), -q * steps * right_stretch_.cwiseAbs2(),
            -q * steps * slack_stretch_ * slack_stretch_, point, product);
  };
  shrink(1, point_);
  if (t != 0) shrink(t, curvature_.step());
  gradient.slack = product.slack;
  if (with_offsets) put_offsets(offset_gradient_, offset_stretch_, gradient);
}

void FactorDescent::precondition() {
  // With columns of left and right orthogonal, the curvature along left column k is about h |right_k|^2 + multiplier,
  // and the other way round: h is the mean curvature of the entries, spread over the columns.
  const auto columns = static_cast<Eigen::Index>(factors_.left.columns());
  const Index spare = f_.offsets().columns();
  DescentPoint& gradient = curvature_.gradient();
  left_stretch_.setOnes(columns);
  right_stretch_.setOnes(columns);
  left_stretch_.tail(spare).setZero();
  right_stretch_.tail(spare).setZero();
  slack_stretch_ = 1;
  Eigen::VectorXd left_square = panels_.gram(factors_.left, factors_.left).diagonal();
  Eigen::VectorXd right_square = panels_.gram(factors_.right, factors_.right).diagonal();
  left_square.tail(spare).setZero();
  right_square.tail(spare).setZero();
  evaluate(0, gradient);
  const double least_slack = std::sqrt(2 * kLeastSlack * f_.radius());
  if (multiplier_ < 0 && point_.slack < least_slack) {
    point_.slack = least_slack;
    evaluate(0, gradient);
  }
  // Offsets have stretches of their own: they stay while the curvature of the factors is measured.
  DescentPoint& probe = curvature_.step();
  stretch(0, left_stretch_, left_stretch_, 1, gradient, probe);
  const double slope = dot(panels_, probe, probe);
  if (!(slope > 0)) return;
  const double t = kProbe * std::sqrt(2 * f_.radius() / slope);
  const double worth = multiplier_;
  evaluate(-t, curvature_.next_gradient());
  const double bend = t * (slope - dot(panels_, probe, curvature_.next_gradient()));
  const Product& g = gradient.factors;
  const double weighted = panels_.gram(g.left, g.left).diagonal().dot(right_square) +
                          panels_.gram(g.right, g.right).diagonal().dot(left_square);
  const double h = std::max(0.0, bend - worth * t * t * slope) / std::max(1e-300, t * t * weighted);
  const double largest = std::max(left_square.maxCoeff(), right_square.maxCoeff());
  const double least = std::max(worth, 1e-3 * h * largest);
  if (!(least > 0)) return;
  left_stretch_ = (h * right_square.array() + least).rsqrt();
  right_stretch_ = (h * left_square.array() + least).rsqrt();
  slack_stretch_ = 1 / std::sqrt(least);
  left_stretch_.tail(spare).setOnes();
  right_stretch_.tail(spare).setOnes();
  stretch(0, left_stretch_.cwiseInverse(), right_stretch_.cwiseInverse(), 1 / slack_stretch_, point_, point_);
  stretch(0, left_stretch_, right_stretch_, slack_stretch_, gradient, gradient);
  left_stretch_.tail(spare).setZero();
  right_stretch_.tail(spare).setZero();
}

double FactorDescent::search(double slope, const std::function<bool()>& stop) {
  // Derivatives alone decide: the smoothed objective has a slope in closed form for every loss, but not a value. A step
  // is good when it ends where the slope has flattened, but not far beyond the lowest point.
  constexpr int kTrials = 8;
  constexpr double kFlat = 0.9;
  constexpr double kBeyond = 0.5;
  double low = 0;
  double low_slope = slope;
  double high = 0;
  double t = 1;
  for (int trial = 0; trial < kTrials && !stop(); ++trial) {
    evaluate(t, curvature_.next_gradient());
    const double there = dot(panels_, curvature_.next_gradient(), curvature_.step());
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

FactoredMatrix FactorDescent::answer(double slack) {
  const Index columns = factors_.left.columns();
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(columns, columns);
  const auto in_double = [&](Panel& factor) {
    const Panel room = panels_.make(factor.side(), Use::exact, columns + kSpareRoom);
    panels_.combine(0, factor, identity, room.middle(0, columns));
    factor = {};  // its memory is needed
    return room;
  };
  const Product exact{in_double(factors_.left), in_double(factors_.right)};
  Eigen::VectorXd left_norm(columns);
  Eigen::VectorXd right_norm(columns);
  for (Index k = 0; k < columns; ++k) {
    left_norm[k] = std::sqrt(panels_.dot(exact.left.column(k), exact.left.column(k)));
    right_norm[k] = std::sqrt(panels_.dot(exact.right.column(k), exact.right.column(k)));
  }
  // N in double, of the factors as they are: what is returned must be inside the ball.
  const double n = (left_norm.squaredNorm() + right_norm.squaredNorm() + slack * slack) / 2;
  const double scale = f_.radius() / n;
  const Eigen::VectorXd size = left_norm.cwiseProduct(right_norm);
  const double least = kNegligible * size.sum();
  Index kept = 0;  // columns move up into the places of those that are left out
  Eigen::VectorXd values(columns);
  for (Index k = 0; k < columns; ++k) {
    if (!(size[k] > least)) continue;
    panels_.add(0, 1 / left_norm[k], exact.left.column(k), exact.left.column(kept));
    panels_.add(0, 1 / right_norm[k], exact.right.column(k), exact.right.column(kept));
    values[kept++] = scale * size[k];
  }
  return {panels_, exact.left, values.head(kept), exact.right};
}

ModelPoint FactorDescent::descend(FactoredMatrix x, FactoredMatrix seeds, double width, int steps,
                                  const std::function<bool()>& stop) {
  const bool with_offsets = f_.offsets().active();
  if (x.terms() + seeds.terms() == 0 && !with_offsets) return {std::move(x)};
  width_ = width;
  factors_ = f_.sampled(x, seeds, f_.offsets().columns());
  x = FactoredMatrix(panels_);  // what follows needs the memory
  seeds = FactoredMatrix(panels_);
  const Index columns = factors_.left.columns();
  if (!point_.factors.left || point_.factors.left.columns() != columns) point_ = make_point(panels_, columns);
  curvature_.prepare(columns);
  learn_signs();
  rotate();
  panels_.copy(factors_.left, point_.factors.left);
  panels_.copy(factors_.right, point_.factors.right);
  if (with_offsets) put_offsets(f_.offsets().copy(f_.offsets().now()), offset_shrink_, point_);
  const double radius = f_.radius();
  point_.slack = std::sqrt(2 * std::max(0.0, radius - half_square()));
  precondition();
  curvature_.begin();
  const DescentPoint& gradient = curvature_.gradient();
  const double settled = kSettled * kSettled * dot(panels_, gradient, gradient);
  int failures = 0;
  for (int k = 0; k < steps && failures < 2 && !stop(); ++k) {
    const double slope = curvature_.direction();
    const double t = slope < 0 ? search(slope, stop) : 0;
    if (t == 0) {
      if (stop()) break;
      ++failures;
      evaluate(0, curvature_.gradient());
      curvature_.begin();
      continue;
    }
    failures = 0;
    add(panels_, 1, t, curvature_.step(), point_);
    curvature_.learn(t);
    if (dot(panels_, gradient, gradient) <= settled) break;
  }
  const double slack = slack_stretch_ * point_.slack;
  unstretch(0);
  if (with_offsets) take_offsets(0);
  point_ = {};
  curvature_.release();  // what follows needs the memory
  rotate();
  return {answer(slack), f_.offsets().copy(offsets_)};
}

}  // namespace tracenorm::methods
