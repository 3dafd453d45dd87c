#include "methods/certifier.hpp"

#include <algorithm>
#include <cmath>

#include "methods/kept_result.hpp"

namespace tracenorm {

namespace {

/// The average takes every fourth slope matrix: the bound hardly changes and the passes stay a small share.
constexpr int kAverageStride = 4;

/// The average gives slope j a weight that grows like j to this power minus one: old, wide slopes fade.
constexpr double kAveragePower = 4;

/// A bound without a doubt may widen the gap by this share of it.
constexpr double kWorthOfCertainty = 0.1;

/// A proof with fewer passes than this says too little to be worth making.
constexpr double kLeastWork = 40;

/// A Lanczos run of a symmetric problem: a step is two products, each a pass over its triangle, and there are sixty
/// steps at least.
constexpr double kLeastSymmetricLanczos = 120;

}  // namespace

Certifier::Certifier(Evaluator& evaluator, const RunOptions& options) : evaluator_(evaluator), options_(options) {}

void Certifier::exchange(Exchange state, bool averages) {
  state.number("lower_bound", lower_bound_);
  tracenorm::exchange(state.part("certificate"), certificate_);
  tracenorm::exchange(state.part("dual"), dual_);
  state.number("next_check", next_check_);
  state.number("averaged", averaged_);
  if (!averages) averaged_ = 0;
  state.number("refused_estimate", refused_estimate_);
}

bool Certifier::wants_conjugate(int k) const {
  if (options_.gap && evaluator_.cheap_conjugate()) return true;  // a gap may come within reach at any iteration
  if (evaluator_.radius() == 0) return true;
  return (k >= next_check_ && worth_a_proof(allowance())) || k >= options_.iterations;
}

double Certifier::allowance() const {
  const Counters& counters = evaluator_.counters();
  return options_.certificate_share * counters.passes - counters.certificate_passes;
}

bool Certifier::worth_a_proof(double work) const {
  if (work < kLeastWork) return false;
  return work >= kLeastSymmetricLanczos || evaluator_.symmetry() == Symmetry::none || !evaluator_.norm_by_lanczos(work);
}

bool Certifier::gap_in_reach(double objective, double estimate) const {
  return options_.gap && relative_gap(objective, std::max(estimate, lower_bound_)) <= *options_.gap &&
         estimate > refused_estimate_;
}

bool Certifier::take(Slopes which, double conjugate_sum, const SpectralBound& bound, double margin) {
  const double dual = -conjugate_sum - evaluator_.radius() * bound.value;
  // More than the rounding of this line: who proves it again may add up in another order.
  const double rounding = 16 * std::numeric_limits<double>::epsilon();
  const double proved = dual - rounding * (std::abs(conjugate_sum) + std::abs(dual));
  if (!(proved > lower_bound_ - margin)) return false;
  lower_bound_ = proved;
  certificate_.proof = bound.proof;
  certificate_.slopes = which;
  if (options_.keep_dual) dual_ = evaluator_.dual_point();
  return true;
}

void Certifier::prove_current(double work) {
  const double conjugates = evaluator_.make_dual(Slopes::current);
  prove_made(Slopes::current, conjugates, evaluator_.estimate_norm(Slopes::current), work);
}

void Certifier::prove_made(Slopes which, double conjugates, double estimate, double work) {
  if (!std::isfinite(conjugates)) return;
  SpectralBound bound{0, SpectralBound::Proof::exact, 0};
  if (evaluator_.radius() > 0) bound = evaluator_.bound_norm(estimate, work);
  certificate_.failure_probability += bound.failure_probability;
  take(which, conjugates, bound);
}

void Certifier::prove_zero() {
  const double minima = 0.0 - evaluator_.zero_conjugate_sum();
  if (!std::isfinite(minima)) return;
  lower_bound_ = minima;
  certificate_.proof = SpectralBound::Proof::exact;
  certificate_.slopes = Slopes::zero;
  if (options_.keep_dual) {
    dual_ = DualPoint{std::vector<Real>(static_cast<std::size_t>(evaluator_.dual_size())),
                      LowRankMatrix(evaluator_.rows(), evaluator_.cols())};
  }
}

void Certifier::try_both(const Linearization& model, double work) {
  const double current = -model.conjugate_sum - evaluator_.radius() * evaluator_.estimate_norm(Slopes::current);
  if (averaged_ > 1) {
    const double conjugates = evaluator_.make_dual(Slopes::average);
    const double estimate = evaluator_.estimate_norm(Slopes::dual);
    const double average = -conjugates - evaluator_.radius() * estimate;
    if (average > current) {
      if (average > lower_bound_) prove_made(Slopes::average, conjugates, estimate, work);
      return;
    }
  }
  if (current > lower_bound_) prove_current(work);
}

void Certifier::update(int k, const Linearization& model) {
  if (k == 0) prove_zero();
  if (averages_ && k % kAverageStride == 0 && options_.certificate_share > 0) {
    evaluator_.average(kAveragePower / (averaged_ + kAveragePower));
    ++averaged_;
  }
  if (std::isnan(model.conjugate_sum)) return;
  if (evaluator_.radius() == 0) return prove_current(0);  // X = 0: the slopes say it all
  const double estimate = -model.conjugate_sum - evaluator_.radius() * evaluator_.estimate_norm(Slopes::current);
  if (gap_in_reach(model.objective, estimate)) {
    prove_current(std::max(allowance(), 4 * kLeastWork));
    refused_estimate_ = estimate + 1e-3 * std::abs(estimate) * *options_.gap;
    return;
  }
  if (k < next_check_) return;
  const double work = allowance();
  if (!worth_a_proof(work)) return;
  try_both(model, work);
  next_check_ = k + 1 + k / 6;
}

void Certifier::accept(double lower_bound) {
  if (!(lower_bound > lower_bound_)) return;
  lower_bound_ = lower_bound;
  certificate_.proof = SpectralBound::Proof::exact;
  dual_.reset();
}

void Certifier::finish(const Linearization& model) {
  if (std::isnan(model.conjugate_sum) || !std::isfinite(model.objective)) return;
  try_both(model, std::max(allowance(), 2 * kLeastWork));
}

void Certifier::remove_doubt(double objective) {
  if (certificate_.proof != SpectralBound::Proof::probabilistic || !std::isfinite(objective)) return;
  if (!evaluator_.certain_in_a_moment()) return;
  const Slopes which = certificate_.slopes;
  const double conjugates = evaluator_.make_dual(which);
  const double estimate = evaluator_.estimate_norm(which == Slopes::current ? which : Slopes::dual);
  const SpectralBound bound = evaluator_.certain_bound(estimate);
  double margin = kWorthOfCertainty * (objective - lower_bound_);
  if (options_.gap && relative_gap(objective, lower_bound_) <= *options_.gap) {  // that must stay so
    margin =
        std::min(margin, *options_.gap * std::abs(lower_bound_) / (1 + *options_.gap) - (objective - lower_bound_));
  }
  if (take(which, conjugates, bound, std::max(0.0, margin))) certificate_.failure_probability = 0;
}

}  // namespace tracenorm
