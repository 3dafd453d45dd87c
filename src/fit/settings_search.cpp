#include "fit/settings_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/block_sums.hpp"
#include "fit/gain.hpp"
#include "fit/phase.hpp"
#include "fit/refitted_offsets.hpp"
#include "fit/sampling.hpp"
#include "methods/cancelled.hpp"
#include "methods/radius_steps.hpp"
#include "solver/evaluator.hpp"

namespace tracenorm {

namespace {

/// While settings are compared, answers are made by so few iterations, or to this gap. At a small radius an unsolved
/// problem has a small gap too, for X is a small part of the objective.
constexpr double kSearchGap = 0.003;
constexpr int kSearchIterations = 2;
constexpr int kFirstIterations = 6;  // from X = 0 the first corrections may be taken back
constexpr int kTurnIterations = 1;
constexpr int kSearchSteps = 10;  // of a correction: half of what an answer gets

/// From one radius to the next; at most so many.
constexpr double kRatio = 1.6;
constexpr std::size_t kMostRadii = 24;
/// And where settings of smaller data are near.
constexpr double kEnlarged = 1.3;
/// There a larger one must be better by this share: it makes the answer of many entries dear.
constexpr double kWorthEnlarging = 2e-3;

/// A score that is lower by less than this share is no better.
constexpr double kWorthwhile = 2e-4;

/// Beyond a radius that was better by less than this, the next one is not worth its time.
constexpr double kStillClimbing = 5e-4;

/// The loss that is tried beside the first: with gross outliers it is better.
constexpr losses::Huber kNarrowLoss{0.5};

/// What turns will gain at least, where offsets are fitted together with X.
constexpr double kTurnsToCome = 5e-3;

/// A radius between is tried where it is by this part of a step away from the best one.
constexpr double kWorthABetween = 0.2;

/// Radii that are tried although no radius has been better than none.
constexpr int kMostFruitless = 3;

/// Offsets and X in turn, with the gain between them.
constexpr int kMostTurns = 3;
/// How much further than the refitted offsets a turn goes: they would come there in turns to come.
constexpr double kAhead = 1.8;

/// The best settings so far. Others are solved for meanwhile, so X is kept in half the memory.
class Kept {
 public:
  void keep(const Settings& settings) {
    const LowRankMatrix& x = settings.x;
    left_ = x.left().cast<Real>();
    values_ = x.values();
    right_ = x.right().cast<Real>();
    settings_ = settings.without_x();
  }
  [[nodiscard]] const Settings& without_x() const { return settings_; }
  [[nodiscard]] Settings settings() const {
    Settings settings = settings_;
    settings.x = LowRankMatrix(left_.cast<double>(), values_, right_.cast<double>());
    return settings;
  }
  [[nodiscard]] Settings take() {
    Settings settings = this->settings();
    *this = {};
    return settings;
  }

 private:
  using Columns = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  Settings settings_;
  Columns left_;
  Eigen::VectorXd values_;
  Columns right_;
};

/// Tries settings, each from the answer of the one before.
class Search {
 public:
  Search(const FitOptions& options, const PartOfData& part, const Entries& held_out, const RunHooks& hooks)
      : options_(options), part_(part), held_(held_out), hooks_(hooks) {
    prepare(part.units(), held_, options.run.threads);
    hooks_.validation = nullptr;
  }

  FoundSettings run() {
    climb();
    if (options_.refit && best_.without_x().radius > 0) take_turns();
    return {best_.take(), std::move(steps_), best_step_};
  }

  FoundSettings enlarge(Settings now) {
    worthwhile_ = kWorthEnlarging;
    for (int larger = 0; in_time(); ++larger) {
      tell(hooks_, larger == 0 ? "all rows" : fmt::format("all rows, larger radius {}", larger));
      if (!now.refit.taken) now.refit = {};  // gains that chance may explain are no part of the predictions
      if (now.turns > 0) now.offsets = turned(part_, now.x, now, 1);
      const bool better =
          now.turns > 0 ? solve(part_.given(now.loss, now.radius, part_.with(now.offsets)), now) : solve_setting(now);
      if (!better) break;
      now.radius *= kEnlarged;
      now.x.scale(kEnlarged);
    }
    if (steps_.empty()) return {std::move(now), {}, 0};  // there was no time: as they were
    now.x = {};
    return {best_.take(), std::move(steps_), best_step_};
  }

 private:
  /// Radii from small to large, until the score has turned; then where a parabola has its least score.
  void climb() {
    const Problem problem = part_.joint(*options_.loss, 1);
    Settings now{.loss = problem.loss};
    now.x = LowRankMatrix(rows(problem.observations), cols(problem.observations));
    now.offsets = part_.start();
    judge(now, {});
    now.radius = first_radius(problem);
    int radii = 0;
    for (int since_best = 0; now.radius > 0 && steps_.size() <= kMostRadii && in_time();) {
      const double before = steps_[best_step_].validation_error;
      const bool first = steps_.size() == 1;
      tell(hooks_, fmt::format("radius {}", ++radii));
      bool better = solve_setting(now);
      if (first && options_.choose_loss && in_time()) {  // larger radii cost more and say the same
        double least = steps_.back().validation_error;
        for (const bool before_x : {false, true}) {
          Settings other = now;
          other.loss = kNarrowLoss;
          other.offsets_before = before_x;
          tell(hooks_,
               fmt::format("radius {}, {}{}", radii, to_string(kNarrowLoss), before_x ? ", offsets first" : ""));
          better = solve_setting(other) || better;
          const double error = steps_.back().validation_error;
          if (!(error < least * (before_x ? 1 - kTurnsToCome : 1))) continue;
          least = error;
          now = std::move(other);
        }
      }
      // The first directions may be of outliers, or of rows without held-out entries: that says nothing of the next.
      if (!better && (best_.without_x().radius > 0 || ++since_best > kMostFruitless)) break;
      if (!first && better && steps_[best_step_].validation_error > before * (1 - kStillClimbing)) break;
      now.radius *= kRatio;
      now.x.scale(kRatio);
    }
    if (const double better = between(); better > 0 && in_time()) {
      tell(hooks_, "a radius between");
      now = best_.settings();
      now.radius *= better;
      now.x.scale(better);
      solve_setting(now);
    }
  }

  /// How far from the best radius the parabola through it and its neighbours has its minimum, as a factor; 0: there is
  /// none that is worth a solve.
  [[nodiscard]] double between() const {
    if (best_step_ == 0 || best_step_ + 1 >= steps_.size()) return 0;
    const RadiusStep& low = steps_[best_step_ - 1];
    const RadiusStep& best = steps_[best_step_];
    const RadiusStep& high = steps_[best_step_ + 1];
    const auto beside = [&](const RadiusStep& step) { return step.loss == best.loss && step.turn == best.turn; };
    if (!beside(low) || !beside(high) || !(low.radius < best.radius && best.radius < high.radius)) return 0;
    const double left = low.validation_error - best.validation_error;
    const double right = high.validation_error - best.validation_error;
    const double place = left + right > 0 ? (left - right) / (2 * (left + right)) : 0;  // in steps, within a half
    return std::abs(place) > kWorthABetween ? std::pow(kRatio, place) : 0;
  }

  [[nodiscard]] double first_radius(const Problem& problem) const {
    OwnEvaluator f(problem, options_.run.threads, options_.run.seed);
    f->restart(ModelPoint{FactoredMatrix(f->panels()), f->offsets().upload(part_.start())});
    return smallest_radius(*f);
  }

  /// With a gain the offsets that go with it are others, and X then too.
  void take_turns() {
    if (best_.without_x().offsets_before) return;
    Settings now = best_.settings();
    for (now.turns = 1; now.turns <= kMostTurns && now.refit.taken && in_time(); ++now.turns) {
      tell(hooks_, fmt::format("offsets and X in turn, {} of {}", now.turns, kMostTurns));
      now.offsets = turned(part_, now.x, now, kAhead);
      if (!solve(part_.given(now.loss, now.radius, part_.with(now.offsets)), now)) break;
    }
  }

  bool solve_setting(Settings& now) {
    if (!now.offsets_before) return solve(part_.joint(now.loss, now.radius), now);
    now.offsets = part_.start();
    return solve(part_.given(now.loss, now.radius, part_.with(now.offsets)), now);
  }

  /// Solves roughly and judges. Returns whether it was better than all before.
  bool solve(const Problem& problem, Settings& now) {
    RunOptions run = after(options_.run, steps_);
    run.gap = kSearchGap;
    const int enough = now.turns > 0 ? kTurnIterations : now.x.terms() > 0 ? kSearchIterations : kFirstIterations;
    run.iterations = std::min(run.iterations, enough);
    run.keep_dual = false;
    LowRankMatrix start = std::move(now.x);
    const SideOffsets offsets = now.offsets;
    hooks_.start = &start;
    hooks_.free_start = &start;
    hooks_.start_offsets = problem.offsets ? &offsets : nullptr;
    // Whatever makes the answer in the end: a few corrections say more of a setting than a few Frank-Wolfe steps.
    const auto* corrective = std::get_if<methods::Corrective>(&*options_.method);
    methods::Corrective rough = corrective != nullptr ? *corrective : methods::Corrective{};
    rough.steps = std::min(rough.steps, kSearchSteps);
    Result result = tracenorm::solve(problem, rough, run, hooks_);
    now.x = std::move(result.solution);
    if (problem.offsets) now.offsets = std::move(result.offsets);
    return judge(now, result);
  }

  bool judge(Settings& now, const Result& result) {
    const Execution& execution = part_.execution();
    now.refit =
        find_gain(split_answer(now.x, held_, execution), bases(now.offsets, held_, execution), held_.value, execution);
    const bool taken = options_.refit && now.refit.taken;
    RadiusStep step = step_of(result, now.radius, now.x.terms());
    step.loss = to_string(now.loss);
    step.turn = now.offsets_before ? -1 : now.turns;
    step.gain = taken ? now.refit.gain : 1;
    step.small_gain = taken ? now.refit.small_gain : 1;
    step.validation_error = taken ? now.refit.score : now.refit.score_of_1;
    steps_.push_back(step);
    const bool better =
        steps_.size() == 1 || step.validation_error < steps_[best_step_].validation_error * (1 - worthwhile_);
    if (better) {
      best_step_ = steps_.size() - 1;
      best_.keep(now);
    }
    return better;
  }

  [[nodiscard]] bool in_time() const {
    const RunOptions left = after(options_.run, steps_);
    return !cancelled(hooks_) && !(left.seconds && *left.seconds == 0);
  }

  const FitOptions& options_;
  const PartOfData& part_;
  Entries held_;
  RunHooks hooks_;
  std::vector<RadiusStep> steps_;
  std::size_t best_step_ = 0;
  double worthwhile_ = kWorthwhile;
  Kept best_;
};

}  // namespace

std::vector<double> bases(const SideOffsets& offsets, const Entries& entries, const Execution& execution) {
  std::vector<double> base(entries.row.size());
  for_each_element(execution, base.size(), [&](std::size_t e) {
    base[e] =
        offsets.row[static_cast<std::size_t>(entries.row[e])] + offsets.col[static_cast<std::size_t>(entries.col[e])];
  });
  return base;
}

SideOffsets turned(const PartOfData& part, const LowRankMatrix& now_x, const Settings& now, double ahead) {
  std::vector<Real> x;
  sample(now_x, gained(now_x, now.refit), part.data(), part.execution(), x);
  SideOffsets offsets = now.offsets;
  refit_offsets(now.loss, part.ridge(), part.data(), x, offsets, part.execution());
  const auto go = [&](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] + ahead * (to[i] - from[i]);
  };
  go(now.offsets.row, offsets.row);
  go(now.offsets.col, offsets.col);
  return offsets;
}

FoundSettings search_settings(const FitOptions& options, const PartOfData& part, const Entries& held_out,
                              const RunHooks& hooks) {
  return Search(options, part, held_out, hooks).run();
}

FoundSettings enlarge_radius(const FitOptions& options, const PartOfData& part, Settings settings,
                             const Entries& held_out, const RunHooks& hooks) {
  return Search(options, part, held_out, hooks).enlarge(std::move(settings));
}

}  // namespace tracenorm
