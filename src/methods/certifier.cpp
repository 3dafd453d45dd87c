#include "methods/certifier.hpp"

#include <algorithm>
#include <cmath>

namespace tracenorm {

namespace {

/// The average takes every fourth slope matrix: the bound hardly changes and the passes stay a small share.
constexpr int kAverageStride = 4;

/// The average gives slope j a weight that grows like j to this power minus one: old, wide slopes fade.
constexpr double kAveragePower = 4;

/// A proof with fewer passes than this says too little to be worth making.
constexpr double kLeastWork = 40;

}  // namespace

Certifier::Certifier(Evaluator& evaluator, const RunOptions& options) : evaluator_(evaluator), options_(options) {}

bool Certifier::wants_conjugate(int k) const {
  if (options_.gap && evaluator_.cheap_conjugate()) return true;  // a gap may come within reach at any iteration
  if (evaluator_.radius() == 0) return true;
  return (k >= next_check_ && allowance() >= kLeastWork) || k >= options_.iterations;
}

double Certifier::allowance() const {
  const Counters& counters = evaluator_.counters();
  return options_.certificate_share * counters.passes - counters.certificate_passes;
}

bool Certifier::gap_in_reach(double objective, double estimate) const {
  return options_.gap && relative_gap(objective, std::max(estimate, lower_bound_)) <= *options_.gap &&
         estimate > refused_estimate_;
}

void Certifier::prove(Slopes which, double conjugate_sum, double work) {
  const SpectralBound bound =
      evaluator_.radius() > 0 ? evaluator_.bound_norm(which, work) : SpectralBound{0, SpectralBound::Proof::exact, 0};
  certificate_.failure_probability += bound.failure_probability;
  // Sums of up to 1e9 terms in double: the margin covers their rounding.
  const double dual = -conjugate_sum - evaluator_.radius() * bound.value;
  const double rounding = 1e-14 * (std::abs(conjugate_sum) + evaluator_.radius() * bound.value);
  const double proved = dual - rounding;
  if (!(proved > lower_bound_)) return;
  lower_bound_ = proved;
  certificate_.proof = bound.proof;
  certificate_.slopes = which;
}

void Certifier::prove_zero() {
  const double minima = -evaluator_.zero_conjugate_sum();
  lower_bound_ = minima - 1e-14 * std::abs(minima);
  certificate_.proof = SpectralBound::Proof::exact;
  certificate_.slopes = Slopes::zero;
}

void Certifier::try_both(const Linearization& model, double work) {
  const double current = -model.conjugate_sum - evaluator_.radius() * evaluator_.estimate_norm(Slopes::current);
  if (averaged_ > 1) {
    const double conjugates = evaluator_.average_conjugate_sum();
    const double average = -conjugates - evaluator_.radius() * evaluator_.estimate_norm(Slopes::average);
    if (average > current) {
      if (average > lower_bound_) prove(Slopes::average, conjugates, work);
      return;
    }
  }
  if (current > lower_bound_) prove(Slopes::current, model.conjugate_sum, work);
}

void Certifier::update(int k, const Linearization& model) {
  if (k == 0) prove_zero();
  if (averages_ && k % kAverageStride == 0 && options_.certificate_share > 0) {
    evaluator_.average(kAveragePower / (averaged_ + kAveragePower));
    ++averaged_;
  }
  if (std::isnan(model.conjugate_sum)) return;
  if (evaluator_.radius() == 0) return prove(Slopes::current, model.conjugate_sum, 0);  // X = 0: the slopes say it all
  const double estimate = -model.conjugate_sum - evaluator_.radius() * evaluator_.estimate_norm(Slopes::current);
  if (gap_in_reach(model.objective, estimate)) {
    prove(Slopes::current, model.conjugate_sum, std::max(allowance(), 4 * kLeastWork));
    refused_estimate_ = estimate + 1e-3 * std::abs(estimate) * *options_.gap;
    return;
  }
  if (k < next_check_) return;
  const double work = allowance();
  if (work < kLeastWork) return;
  try_both(model, work);
  next_check_ = k + 1 + k / 6;
}

void Certifier::accept(double lower_bound) {
  if (!(lower_bound > lower_bound_)) return;
  lower_bound_ = lower_bound;
  certificate_.proof = SpectralBound::Proof::exact;
}

void Certifier::finish(const Linearization& model) {
  if (std::isnan(model.conjugate_sum) || !std::isfinite(model.objective)) return;
  try_both(model, std::max(allowance(), 2 * kLeastWork));
}

}  // namespace tracenorm
