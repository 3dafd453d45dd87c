#include "tracenorm/width.hpp"

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

}  // namespace

WidthSchedule::WidthSchedule(const WidthRule& rule, const Evaluator& evaluator)
    : rule_(rule),
      radius_(evaluator.radius()),
      scale_(evaluator.data_scale()),
      kink_slope_(evaluator.kink_slope()),
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
  if (const auto* hybrid = std::get_if<HybridWidth>(&rule_)) {
    return std::max(paper(k), hybrid->floor * scale_ / std::sqrt(k + 1.0));
  }
  if (const auto* constant = std::get_if<ConstantWidth>(&rule_)) return constant->mu;
  if (const auto* root = std::get_if<RootWidth>(&rule_)) return root->beta * kink_slope_ / std::sqrt(k + 1.0);
  return 0.0;  // ZeroWidth
}

void WidthSchedule::observe(double largest_change) {
  changes_[static_cast<std::size_t>(observed_) % changes_.size()] = largest_change;
  ++observed_;
}

}  // namespace tracenorm
