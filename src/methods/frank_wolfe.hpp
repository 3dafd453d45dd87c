// The part of a Frank-Wolfe iteration that methods share.
#pragma once

#include "solver/evaluator.hpp"
#include "tracenorm/methods/frank_wolfe.hpp"

namespace tracenorm::methods {

/// Lines 7 and 4 of Algorithm 1: finds the atom that minimises the linear model, aims at it, and chooses the step.
class FrankWolfeStep {
 public:
  explicit FrankWolfeStep(const FrankWolfe& options) : options_(options) {}
  double next(Evaluator& f, int k);
  void exchange(Exchange state) { state.number("delay", delay_); }

 private:
  const FrankWolfe& options_;
  double delay_ = 2;
};

}  // namespace tracenorm::methods
