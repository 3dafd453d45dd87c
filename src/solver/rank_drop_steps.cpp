#include "solver/rank_drop_steps.hpp"

#include <algorithm>

namespace tracenorm {

namespace {

/// A drop stretches X, and with it what rounding has left at the entries: after so many they are made anew of the
/// factors. (Without that they were 2e-5 off after 3000 iterations on a 10 x 10 problem.)
constexpr int kFreshAfter = 64;

}  // namespace

RankDropSteps::RankDropSteps(Evaluator& f)
    : f_(f), term_{f.panels().make(Side::left, Use::exact, 1), f.panels().make(Side::right, Use::exact, 1)} {
  f_.iterate_.keep_thin();
}

Eigen::MatrixXd RankDropSteps::project_slopes() {
  ThinSvd& x = f_.iterate_.thin();
  const Panel right = x.right();
  const Index columns = right.columns();
  const Panel product = f_.panels_->make(Side::left, Use::exact, columns);
  f_.count_pass(1 + columns / 4.0);  // one pass over the entries, each met by `columns` multiply-adds
  f_.counters_.products += columns;
  f_.norm_.scale(right);
  f_.store_->multiply(Slopes::current, right, product);
  f_.norm_.scale(product);
  Eigen::MatrixXd projected = f_.panels_->gram(x.left(), product);
  projected.diagonal() += 2 * f_.slopes_.off_pattern() * x.values();
  return projected;
}

Eigen::VectorXd RankDropSteps::admissible(const Eigen::VectorXd& q) {
  if (f_.symmetry() != Symmetry::symmetric) return q;
  const Eigen::VectorXd& signs = f_.iterate_.thin().signs();
  const double sign = q.dot(signs.cwiseProduct(q)) < 0 ? -1 : 1;
  Eigen::VectorXd kept = q;
  for (Eigen::Index k = 0; k < q.size(); ++k) {
    if (signs[k] != sign) kept[k] = 0;
  }
  return kept.normalized();
}

RankDropSteps::Aimed RankDropSteps::aim(const RankDropStep& step, std::optional<double> width) {
  ThinSvd& thin = f_.iterate_.thin();
  const Eigen::VectorXd x = thin.values().cwiseSqrt().cwiseProduct(step.q);
  thin.left_times(x, term_.left);
  thin.right_times(x, term_.right);
  f_.norm_.scale(term_.left);
  f_.norm_.scale(term_.right);
  f_.offsets_.aim_scaled(step.scale);  // the target is a multiple of what the entries meet, offsets included
  f_.count_pass();
  const double cross = x.dot(thin.values().cwiseProduct(x));
  const double square = thin.values().squaredNorm() - 2 * cross + x.squaredNorm() * x.squaredNorm();
  return {f_.store_->aim_without(term_, step.scale, width), step.scale * step.scale * std::max(0.0, square)};
}

double RankDropSteps::objective_after(const RankDropStep& step) {
  f_.count_pass();
  const Aimed at = aim(step, std::nullopt);
  return at.sums.objective + f_.off_pattern(at.square, at.sums.square_x) +
         step.scale * step.scale * f_.offsets_.ridge();
}

double RankDropSteps::smoothed_change_after(const RankDropStep& step, double width) {
  f_.count_pass();
  const Aimed at = aim(step, width);
  // Slopes of a penalty off the pattern are stored less their low-rank part, which is that of lambda |X|_F^2.
  return at.sums.inner + f_.slopes_.off_pattern() * (at.square - f_.square_norm_) +
         (step.scale * step.scale - 1) * f_.offsets_.ridge();
}

Eigen::MatrixXd RankDropSteps::drop(const RankDropStep& step) {
  f_.pair_.slopes_change();
  f_.square_norm_ = aim(step, std::nullopt).square;
  f_.store_->move(1);
  f_.offsets_.move(1);
  Eigen::MatrixXd rotation = f_.iterate_.drop(step.q, step.scale);
  if (++dropped_ % kFreshAfter == 0) f_.load();
  return rotation;
}

}  // namespace tracenorm
