// The width of the next linearization, from the rule and the sizes of past steps.
#pragma once

#include <array>

#include "solver/evaluator.hpp"
#include "tracenorm/width.hpp"

namespace tracenorm {

/// The state of a rule during a run.
class WidthSchedule {
 public:
  WidthSchedule(const WidthRule& rule, const Evaluator& evaluator);
  /// The width at iteration k.
  double next(int k);
  /// Whether the rule wants the sum of conjugates at iteration k.
  [[nodiscard]] bool wants_conjugate(int k) const;
  /// Tells the schedule what was learnt at the point the last step began, and max|X - S| of that step.
  void observe(const Linearization& model, double sigma, double largest_change);

  void exchange(Exchange state);

 private:
  [[nodiscard]] double paper(int k) const;
  void balance(double share, const Linearization& model, double sigma);

  WidthRule rule_;
  double radius_;
  double scale_;
  double kink_slope_;
  double linear_gap_ = kInfinity;  // the smallest one, let grow slowly
  double balanced_;                // the width of the balanced rule, before its bounds
  double freeze_after_;            // k' of Algorithm 2, infinite without an epsilon
  double frozen_ = 0;
  std::array<double, 5> changes_{};  // a ring of the last five
  int observed_ = 0;
};

}  // namespace tracenorm
