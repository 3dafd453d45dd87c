#include "methods/width_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace tracenorm {

namespace {

/// The iteration k' after which Algorithm 2 keeps the width: 8 m n (M+1) D^2 Delta_f / epsilon - 1, with one kink per
/// entry (M = 1), D = 2 radius, and Delta_f = 2 * (slope jump) = 4 * slope bound.
double freeze_iteration(double epsilon, const Evaluator& evaluator) {
  if (epsilon <= 0) return kInfinity;
  const double mn = static_cast<double>(evaluator.rows()) * static_cast<double>(evaluator.cols());
  const double diameter = 2 * evaluator.radius();
  return 8 * mn * 2 * diameter * diameter * 4 * evaluator.kink_slope() / epsilon - 1;
}

/// The balanced width is at least this times data scale / sqrt(k+1), and at most what an entry moves in a step or a
/// multiple of that floor that falls to one, whichever is more (docs/mathematics.md).
constexpr double kFloor = 0.3;
constexpr double kCeiling = 10;
constexpr double kSettledAfter = 100;

/// How fast the balanced width follows the ratio of the two parts of the gap, which jumps about by itself.
constexpr double kFollow = 0.5;
constexpr double kMostFollowed = 2;

/// Sums of conjugates cost time: the balance is looked at every so often, and at each of the first iterations.
constexpr int kBalanceStride = 4;
constexpr int kAlwaysBalanced = 16;

}  // namespace

WidthSchedule::WidthSchedule(const WidthRule& rule, const Evaluator& evaluator)
    : rule_(rule),
      radius_(evaluator.radius()),
      scale_(evaluator.data_scale()),
      kink_slope_(evaluator.kink_slope()),
      balanced_(scale_),
      freeze_after_(kInfinity) {
  if (const auto* paper_rule = std::get_if<PaperWidth>(&rule)) {
    freeze_after_ = freeze_iteration(paper_rule->epsilon, evaluator);
  }
}

double WidthSchedule::paper(int k) const {
  if (observed_ == 0) return radius_;  // the infinity-norm diameter seen from X = 0
  const auto known = std::min<std::size_t>(changes_.size(), static_cast<std::size_t>(observed_));
  return 2.0 / (k + 2) * *std::max_element(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(known));
}

double WidthSchedule::next(int k) {
  if (radius_ == 0.0) return 0.0;  // X cannot move: subgradients at zero certify it
  if (std::holds_alternative<PaperWidth>(rule_)) {
    if (k <= freeze_after_) frozen_ = paper(k);
    return frozen_;
  }
  if (std::holds_alternative<BalancedWidth>(rule_)) {
    const double unit = scale_ / std::sqrt(k + 1.0);
    const double ceiling = std::max({kFloor * unit, kCeiling * unit / std::sqrt(1 + k / kSettledAfter), paper(k)});
    balanced_ = std::clamp(balanced_, kFloor * unit, ceiling);
    return balanced_;
  }
  if (const auto* hybrid = std::get_if<HybridWidth>(&rule_)) {
    return std::max(paper(k), hybrid->floor * scale_ / std::sqrt(k + 1.0));
  }
  if (const auto* constant = std::get_if<ConstantWidth>(&rule_)) return constant->mu;
  if (const auto* root = std::get_if<RootWidth>(&rule_)) return root->beta * kink_slope_ / std::sqrt(k + 1.0);
  return 0.0;  // ZeroWidth
}

bool WidthSchedule::wants_conjugate(int k) const {
  return std::holds_alternative<BalancedWidth>(rule_) && (k % kBalanceStride == 0 || k < kAlwaysBalanced);
}

/// gap = (f(X) + f*(M) - <M, X>) + (<M, X> + radius * sigma): slack and linear gap (algorithms: Fenchel, then the
/// bound).
void WidthSchedule::balance(double share, const Linearization& model, double sigma) {
  if (std::isnan(model.conjugate_sum)) return;
  const double slack = model.objective + model.conjugate_sum - model.inner;
  const double linear_gap = model.inner + radius_ * sigma;
  const double rounding = 1e-9 * std::abs(model.objective);
  if (!(slack > rounding && linear_gap > rounding)) return;  // smooth functions have no slack: any width will do
  // The linear gap of one iterate jumps about and can stay far above what is left to gain; its running minimum does
  // not.
  linear_gap_ = std::min(linear_gap, linear_gap_ * (1 + 1 / (observed_ + 1.0)));
  balanced_ *= std::clamp(std::pow(share * linear_gap_ / slack, kFollow), 1 / kMostFollowed, kMostFollowed);
}

void WidthSchedule::exchange(Exchange state) {
  state.number("linear_gap", linear_gap_);
  state.number("balanced", balanced_);
  state.number("frozen", frozen_);
  state.list("changes", changes_);
  state.number("observed", observed_);
}

void WidthSchedule::observe(const Linearization& model, double sigma, double largest_change) {
  if (const auto* rule = std::get_if<BalancedWidth>(&rule_)) balance(rule->share, model, sigma);
  changes_[static_cast<std::size_t>(observed_) % changes_.size()] = largest_change;
  ++observed_;
}

}  // namespace tracenorm
