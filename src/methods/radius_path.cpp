#include "tracenorm/radius_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "methods/cancelled.hpp"
#include "methods/radius_steps.hpp"
#include "solver/evaluator.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

/// The first radius is where an atom is promised to lower the objective by this share.
constexpr double kFirstPromise = 0.05;

/// An improvement below this share of the error is no reason to go on.
constexpr double kWorthwhile = 1e-4;

/// Penalties to try, in units of the data's scale, up to where nothing is left of it.
constexpr std::array<double, 7> kPenalties{0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2};

/// Paths of MovieLens have 7 or 8 radii; once the error has turned the end is in sight.
constexpr int kUsualLength = 8;

/// "radius 3 of about 8". The first step, X = 0, is no radius to speak of.
void tell(const RunHooks& hooks, int step, int since_best, int tolerance) {
  if (hooks.observer == nullptr) return;
  const int ahead = tolerance - since_best;  // at least so many steps more, this one included
  const int about = since_best > 0 ? step + ahead - 1 : std::max(kUsualLength, step + ahead - 1);
  hooks.observer->on_phase(step == 0 ? "trying radii" : fmt::format("radius {} of about {}", step, about));
}

void set_radius(Problem& problem, double radius) { problem.constraint.radius = radius; }

RadiusStep describe(const Result& result, double radius) {
  RadiusStep step = step_of(result, radius, result.solution.terms());
  step.validation_error = result.trace[static_cast<std::size_t>(result.solution_iteration)].validation_error;
  return step;
}

}  // namespace

double smallest_radius(Evaluator& f) {
  const Linearization model = f.linearize(f.data_scale(), false);
  const double sigma = f.leading_atom({1e-2, 30}).sigma;
  return sigma > 0 ? kFirstPromise * std::abs(model.objective) / sigma : 0.0;
}

RadiusStep step_of(const Result& result, double radius, Index rank) {
  RadiusStep step;
  step.radius = radius;
  step.objective = result.objective;
  step.relative_gap = result.relative_gap;
  step.rank = rank;
  step.iterations = result.iterations;
  step.passes = result.counters.passes;
  step.seconds = result.seconds;
  return step;
}

double smallest_radius(const Problem& problem, const RunOptions& run) {
  return smallest_radius(*OwnEvaluator(problem, run.threads, run.seed));
}

RadiusPath choose_radius(Problem& problem, const Method& method, const RunOptions& run, const RunHooks& hooks,
                         const RadiusPathOptions& options) {
  if (hooks.validation == nullptr) throw Error(ErrorCode::usage, "choosing a radius needs validation entries");
  if (!is_bounded(method)) {
    throw Error(ErrorCode::usage, fmt::format("method {} has no radius to choose", method_name(method)));
  }
  // The path asks for predictions, not for proofs: short Frank-Wolfe iterations stop earlier (docs/measurements.md).
  const Method engine = std::holds_alternative<methods::Corrective>(method) ? Method(methods::FrankWolfe{}) : method;
  RunOptions one = run;
  one.gap.reset();
  one.iterations = std::min(run.iterations, options.iterations);
  one.patience = options.patience;
  RunHooks from = hooks;

  RadiusPath path;
  LowRankMatrix last;
  double radius = 0;  // the first step: X = 0
  int since_best = 0;
  while (static_cast<int>(path.steps.size()) <= options.most && since_best < options.tolerance) {
    set_radius(problem, radius);
    tell(hooks, static_cast<int>(path.steps.size()), since_best, options.tolerance);
    from.start = radius == 0 ? nullptr : &last;
    Result result = solve(problem, engine, one, from);
    path.steps.push_back(describe(result, radius));
    last = result.solution;
    last.scale(options.ratio);  // the next answer is larger in most directions: that is nearer to it than this one
    const RadiusStep& step = path.steps.back();
    const bool better =
        path.steps.size() == 1 || step.validation_error < path.steps[path.best].validation_error * (1 - kWorthwhile);
    // The first directions may be of rows that have no validation entry: that says nothing against larger radii.
    const bool says_nothing = path.best == 0 && std::abs(step.validation_error - path.steps[0].validation_error) <=
                                                    kWorthwhile * path.steps[0].validation_error;
    const Status status = result.status;
    const bool stopped = cancelled(hooks);  // maybe after the last iteration
    if (better) {
      path.best = path.steps.size() - 1;
      path.result = std::move(result);
      since_best = 0;
    } else if (!says_nothing) {
      ++since_best;
    }
    if (stopped || status == Status::interrupted) {
      path.result.status = Status::interrupted;
      path.result.message = "interrupted; the best radius so far is returned";
      break;
    }
    if (status == Status::numerical_failure) break;  // larger radii will not do better
    one.seconds = after(run, path.steps).seconds;
    if (one.seconds && *one.seconds == 0) break;
    radius = radius == 0 ? smallest_radius(problem, run) : radius * options.ratio;
    if (radius == 0) break;  // the slopes at zero vanish: zero is the answer for every radius
  }
  set_radius(problem, path.radius());
  return path;
}

RadiusPath choose_radius_and_penalty(Problem& problem, const Method& method, const RunOptions& run,
                                     const RunHooks& hooks, const RadiusPathOptions& options) {
  const double scale = OwnEvaluator(problem, run.threads, run.seed)->data_scale();
  RadiusPath all;
  Penalty best_penalty = problem.penalty;
  int since_best = 0;
  for (const double share : kPenalties) {
    const double lambda = share * scale;
    problem.penalty = lambda > 0 ? Penalty{L1Penalty{lambda}} : Penalty{NoPenalty{}};
    RadiusPath path = choose_radius(problem, method, after(run, all.steps), hooks, options);
    for (RadiusStep& step : path.steps) step.lambda = lambda;
    const Status status = path.result.status;
    const bool better =
        all.steps.empty() || path.steps[path.best].validation_error < all.steps[all.best].validation_error;
    since_best = better ? 0 : since_best + 1;
    if (better) {
      best_penalty = problem.penalty;
      all.best = all.steps.size() + path.best;
      all.result = std::move(path.result);
    }
    all.steps.insert(all.steps.end(), path.steps.begin(), path.steps.end());
    if (status == Status::interrupted || since_best >= options.tolerance) break;
  }
  problem.penalty = best_penalty;
  set_radius(problem, all.radius());
  return all;
}

RunOptions after(RunOptions run, const std::vector<RadiusStep>& steps) {
  if (!run.seconds) return run;
  double spent = 0;
  for (const RadiusStep& step : steps) spent += step.seconds;
  run.seconds = std::max(0.0, *run.seconds - spent);
  return run;
}

}  // namespace tracenorm
