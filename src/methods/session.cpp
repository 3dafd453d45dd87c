#include "methods/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/topic.hpp"
#include "methods/environment.hpp"
#include "methods/kept_result.hpp"
#include "tracenorm/checkpoint.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm {

namespace {

/// Below this certified gap there is nothing left to improve in the precision of the data.
constexpr double kOptimalGap = 1e-9;

std::string describe(Status status, const RunOptions& options, double gap) {
  switch (status) {
    case Status::gap_reached:
      return fmt::format("certified relative gap {:.3g} is at most {:.3g}", gap, *options.gap);
    case Status::iteration_limit:
      return fmt::format("all {} iterations done", options.iterations);
    case Status::time_limit:
      return fmt::format("{} seconds are over", *options.seconds);
    case Status::validation_limit:
      return fmt::format("no better validation error for {} iterations", options.patience);
    case Status::converged:
      return "the method's own stopping rule is met";
    case Status::optimal:
      return "the certified gap is zero to rounding";
    case Status::precision_limit:
      return fmt::format("the certified relative gap of the answer, which is rounded, is {:.3g}: less cannot be proved",
                         gap);
    case Status::interrupted:
      return "interrupted; the iterate so far is returned";
    case Status::numerical_failure:
      return "the objective is not a finite number";
    case Status::not_run:
      return "not run";
  }
  return {};
}

/// Whether the bound is above the objective, which no convex loss allows.
bool contradicts(const Result& result) {
  const double size = std::max(std::abs(result.objective), std::abs(result.lower_bound));
  return result.lower_bound - result.objective > kOptimalGap * size;
}

void take_back_bound(Result& result) {
  result.status = Status::numerical_failure;
  result.message = fmt::format(
      "the lower bound {:.7g} is above the objective {:.7g}, so the loss is not convex everywhere: nothing is proved",
      result.lower_bound, result.objective);
  result.lower_bound = -std::numeric_limits<double>::infinity();
  result.relative_gap = std::numeric_limits<double>::infinity();
  result.certificate = {};
  result.dual.reset();
}

bool is_gap(Status status) { return status == Status::gap_reached || status == Status::optimal; }

}  // namespace

Status stopping_status(const RunOptions& options, const Iteration& iteration, bool cancelled,
                       int since_best_validation) {
  if (!std::isfinite(iteration.objective)) return Status::numerical_failure;
  if (options.gap && iteration.relative_gap <= *options.gap) return Status::gap_reached;
  if (iteration.relative_gap <= kOptimalGap) return Status::optimal;
  if (cancelled) return Status::interrupted;
  if (options.patience > 0 && since_best_validation >= options.patience) return Status::validation_limit;
  if (iteration.k >= options.iterations) return Status::iteration_limit;
  if (options.seconds && iteration.seconds >= *options.seconds) return Status::time_limit;
  return Status::not_run;
}

Session::Session(const RunOptions& options, const RunHooks& hooks, Evaluator& evaluator, const State* from)
    : options_(options),
      hooks_(hooks),
      evaluator_(evaluator),
      certifier_(evaluator, options),
      start_(std::chrono::steady_clock::now()),
      from_(from) {
  constexpr int kReserved = 100000;  // more grows as needed: a huge limit must not cost memory before it is used
  trace_.reserve(static_cast<std::size_t>(std::min(options.iterations, kReserved)) + 1);
  if (hooks.validation != nullptr) evaluator.watch(*hooks.validation);
}

void Session::exchange(Exchange state) {
  state.number("best_validation", best_validation_);
  state.number("best_iteration", best_iteration_);
  state.number("refusals", refusals_);
  state.number("next_confirm", next_confirm_);
  tracenorm::exchange(state, trace_);
  const bool kept = evaluator_.exchange(state.part("evaluator"), std::isfinite(best_validation_));
  certifier_.exchange(state.part("certifier"), kept);
  double so_far = seconds();
  state.number("seconds", so_far);
  state.number("certificate_seconds", certificate_seconds_);
  if (state.restores()) seconds_before_ = so_far;
}

int Session::begin(MethodState method) {
  int first = 0;
  if (from_ != nullptr) {
    about(Topic::checkpoint, [&] {
      Exchange state = Exchange::restore(*from_);
      state.number("iteration", first);
      exchange(state.part("session"));
      method(state.part("method"));
    });
  }
  leg_began_ = evaluator_.counters().passes;
  return first;
}

bool Session::pauses(int k, MethodState method) {
  if (hooks_.checkpoints == nullptr || !hooks_.checkpoints->open()) return false;
  if (evaluator_.counters().passes - leg_began_ < hooks_.checkpoints->leg_passes(evaluator_.entries())) return false;
  look_up();
  if (cancelled_) return false;
  Exchange state = Exchange::keep(state_);
  state.number("iteration", k);
  exchange(state.part("session"));
  method(state.part("method"));
  paused_ = true;
  return true;
}

double Session::seconds() const { return hooks_.ranks != nullptr ? agreed_seconds_ : own_seconds(); }

double Session::own_seconds() const {
  return seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Session::follow_validation(Iteration& iteration) {
  if (hooks_.validation == nullptr) return;
  const HeldOutError error = evaluator_.held_out_error();
  iteration.validation_rmse = error.rmse;
  iteration.validation_error = options_.validation_measure == ValidationMeasure::rmse ? error.rmse : error.loss;
  if (iteration.k % validation_stride_ != 0 || !(iteration.validation_error < best_validation_)) return;
  best_validation_ = iteration.validation_error;
  best_iteration_ = iteration.k;
  evaluator_.remember();
}

void Session::complete(Iteration& iteration) const {
  iteration.lower_bound = certifier_.lower_bound();
  iteration.relative_gap = relative_gap(iteration.objective, iteration.lower_bound);
  iteration.counters = evaluator_.counters();
  iteration.seconds = seconds();
}

Status Session::stopping(const Iteration& iteration) const {
  const int since_best = hooks_.validation != nullptr ? iteration.k - best_iteration_ : 0;
  return stopping_status(options_, iteration, cancelled_, since_best);
}

void Session::look_up() {
  cancelled_ = hooks_.cancel != nullptr && hooks_.cancel->load();
  if (hooks_.ranks == nullptr) return;
  double all[2] = {cancelled_ ? 1.0 : 0.0, hooks_.ranks->is_first() ? own_seconds() : 0.0};
  hooks_.ranks->largest(all);
  cancelled_ = all[0] != 0;
  agreed_seconds_ = all[1];
}

bool Session::overdue() {
  look_up();
  if (cancelled_) return true;
  if (!options_.seconds) return false;
  return seconds() >= *options_.seconds;
}

bool Session::record(const Iteration& iteration) {
  trace_.push_back(iteration);
  if (status_ != Status::not_run) trace_.back().step = 0;
  double refusal[1] = {0};
  if (hooks_.observer != nullptr && !hooks_.observer->on_iteration(trace_.back(), options_)) refusal[0] = 1;
  if (hooks_.ranks != nullptr) hooks_.ranks->largest(refusal);
  if (refusal[0] != 0 && status_ == Status::not_run) {
    status_ = Status::interrupted;
    trace_.back().step = 0;
  }
  return status_ == Status::not_run;
}

bool Session::confirm(Iteration& iteration, const ModelPoint* holder) {
  if (iteration.k < next_confirm_) return false;
  const double objective =
      holder != nullptr ? evaluator_.objective(*holder) : evaluator_.objective(evaluator_.iterate());
  if (relative_gap(objective, iteration.lower_bound) <= std::max(options_.gap.value_or(0), kOptimalGap)) {
    iteration.objective = objective;
    return true;
  }
  ++refusals_;
  next_confirm_ =
      iteration.k + refusals_ * refusals_;  // the iterations may be near their precision: do not ask for ever
  return false;
}

bool Session::proceed(Iteration iteration, const Linearization& model, const ModelPoint* holder) {
  look_up();
  iteration.rank = evaluator_.terms();
  iteration.sigma = evaluator_.estimate_norm(Slopes::current);
  follow_validation(iteration);
  if (!cancelled_) certify([&] { certifier_.update(iteration.k, model); });  // who stops a run does not want to wait
  look_up();
  complete(iteration);
  status_ = stopping(iteration);
  if (is_gap(status_) && !confirm(iteration, holder)) {
    // As if there were no such gap.
    Iteration doubtful = iteration;
    doubtful.relative_gap = std::numeric_limits<double>::infinity();
    status_ = stopping(doubtful);
  }
  const bool in_a_hurry = status_ == Status::interrupted;
  if (status_ != Status::not_run && !is_gap(status_) && !in_a_hurry) {
    const bool summed = !std::isnan(model.conjugate_sum);  // a run may end where nobody expected it to
    certify([&] { certifier_.finish(summed ? model : evaluator_.linearize(iteration.width, true)); });
  }
  if (status_ != Status::not_run && !in_a_hurry) certify([&] { certifier_.remove_doubt(iteration.objective); });
  complete(iteration);
  return record(iteration);
}

bool Session::proceed(Iteration iteration, double lower_bound, bool converged) {
  iteration.rank = evaluator_.terms();
  follow_validation(iteration);
  certifier_.accept(lower_bound);
  look_up();
  complete(iteration);
  status_ = stopping(iteration);
  if (status_ == Status::not_run && converged) status_ = Status::converged;
  return record(iteration);
}

Index Session::weighty_terms(const FactoredMatrix& solution, double lower_bound) const {
  constexpr double kNegligible = 0.002;
  if (trace_.empty() || trace_penalty_ != 0) return solution.terms();
  const double gained = trace_.front().objective - trace_.back().objective;
  const double excess = std::min(trace_.back().objective - lower_bound, gained);
  const double sigma = trace_.back().sigma;
  if (!(excess > 0 && sigma > 0 && std::isfinite(excess))) return solution.terms();
  Index kept = solution.terms();
  for (double rest = kNegligible * excess / sigma; kept > 0; --kept) {
    rest -= solution.values()[kept - 1];
    if (rest < 0) break;
  }
  return kept;
}

Status Session::final_status(const Result& result, bool from_validation) const {
  const LowRankMatrix& x = result.solution;
  const bool finite = std::isfinite(result.objective) && std::isfinite(result.trace_norm) && x.left().allFinite() &&
                      x.values().allFinite() && x.right().allFinite();
  if (!finite || status_ == Status::numerical_failure) return Status::numerical_failure;
  if (options_.gap && result.relative_gap <= *options_.gap) return Status::gap_reached;
  if (result.relative_gap <= kOptimalGap) return Status::optimal;
  if (!is_gap(status_)) return status_;
  return from_validation ? Status::validation_limit : Status::precision_limit;
}

void Session::answer(FactoredMatrix solution, bool bounded, Result& result) {
  result.trace_norm = solution.trace_norm_bound();
  if (!evaluator_.norm().plain()) {
    solution = evaluator_.norm().to_data(std::move(solution));
    solution.compress(evaluator_.symmetry());  // scaled singular vectors are no longer orthogonal
    FactoredMatrix back = evaluator_.norm().from_data(solution.copy());
    back.compress(evaluator_.symmetry(), 0);  // with the smallest values, which add up
    result.trace_norm = back.trace_norm_bound();
  }
  if (bounded) keep_inside(solution, result.trace_norm);
  result.objective = evaluator_.objective_of_data(solution) + trace_penalty_ * result.trace_norm;
  result.relative_gap = relative_gap(result.objective, result.lower_bound);
  result.solution = solution.download(evaluator_.rows(), evaluator_.cols());
}

Result Session::finish(std::string method, bool bounded) {
  Result result;
  look_up();
  const double before = seconds();
  result.method = std::move(method);
  result.lower_bound = certifier_.lower_bound();
  result.certificate = certifier_.certificate();
  result.dual = certifier_.take_dual();
  evaluator_.forget_slopes();
  result.iterations = trace_.empty() ? 0 : trace_.back().k;
  result.solution_iteration = result.iterations;
  result.counters = evaluator_.counters();
  // Who asks for a gap gets the answer that has it, not an earlier one that predicts better.
  const bool chooses = !options_.gap || options_.patience > 0;
  const bool from_validation = chooses && hooks_.validation != nullptr && std::isfinite(best_validation_);
  if (from_validation) result.solution_iteration = best_iteration_;
  FactoredMatrix solution = from_validation ? evaluator_.remembered() : evaluator_.take_iterate();
  solution.compress(evaluator_.symmetry());
  const Index kept = weighty_terms(solution, result.lower_bound);
  if (kept < solution.terms()) {
    FactoredMatrix compact = solution.first_terms(solution.values().head(kept));
    answer(std::move(compact), bounded, result);
    // Nor may what is left out cost the gap that was reached.
    if (is_gap(status_) && !is_gap(final_status(result, from_validation))) answer(std::move(solution), bounded, result);
  } else {
    answer(std::move(solution), bounded, result);
  }
  result.offsets = evaluator_.offsets().download();
  if (contradicts(result)) {
    take_back_bound(result);
  } else {
    result.status = final_status(result, from_validation);
    result.message = describe(result.status, options_, result.relative_gap);
  }
  if (from_validation && is_gap(status_) && result.status == Status::validation_limit) {
    result.message =
        "the last iterate has the gap that was asked for; the one that is best on the validation entries is returned";
  }
  result.trace = std::move(trace_);
  look_up();
  result.seconds = seconds();
  result.certificate_seconds = certificate_seconds_;
  result.answer_seconds = result.seconds - before;
  result.environment = environment(evaluator_.execution().threads(), options_.seed);
  return result;
}

void Session::keep_inside(FactoredMatrix& solution, double& norm) const {
  // A decomposition is rounded, and a sum of its values may be a little less than the norm: a hair inside is inside.
  constexpr double hair = 1e-11;
  const double allowed = evaluator_.radius() * (1 - hair);
  if (norm <= allowed) return;
  solution.scale(allowed / norm);
  norm = allowed;
}

}  // namespace tracenorm
