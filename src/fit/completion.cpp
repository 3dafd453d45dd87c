#include "fit/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/block_sums.hpp"
#include "fit/gain.hpp"
#include "fit/phase.hpp"
#include "fit/refitted_offsets.hpp"
#include "fit/sampling.hpp"
#include "fit/split.hpp"
#include "fit/spread.hpp"
#include "fit/value_range.hpp"
#include "methods/cancelled.hpp"
#include "methods/smallest_radius.hpp"
#include "model/offsets.hpp"
#include "model/side_sums.hpp"
#include "solver/evaluator.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

/// While settings are compared, answers are made by so few iterations, or to this gap. At a small radius an unsolved
/// problem has a small gap too, for X is a small part of the objective.
constexpr double kSearchGap = 0.003;
constexpr int kSearchIterations = 2;
constexpr int kFirstIterations = 6;  // from X = 0 the first corrections may be taken back
constexpr int kTurnIterations = 1;
constexpr int kSearchSteps = 10;  // of a correction: half of what an answer gets
/// Of the answer, where none is asked for.
constexpr double kAnswerGap = 0.005;

/// From one radius to the next; at most so many.
constexpr double kRatio = 1.6;
constexpr std::size_t kMostRadii = 24;

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

/// Entries with what is needed to make problems of them.
class PartOfData {
 public:
  PartOfData(const FitOptions& options, SparseObservations raw, const Execution& execution)
      : units_{.kind = Preparation::Kind::both}, data_(std::move(raw)), raw_(data_.value), execution_(execution) {
    if (data_.pattern.entries() == 0) throw Error(ErrorCode::input, "there are no values to fit a preparation to");
    const Shrinkage shrinkage = fit_offsets(units_, averaging_for(*options.loss), data_, execution);
    // For losses with the curvature 1 an offset of n entries is then their mean times n / (n + shrinkage).
    constexpr double least = 0.5;
    ridge_ = {std::max(least, shrinkage.row / 2), std::max(least, shrinkage.col / 2)};
    start_ = {std::exchange(units_.row_offset, {}), std::exchange(units_.col_offset, {})};
    for (std::vector<double>* side : {&start_.row, &start_.col}) {
      for (double& offset : *side) offset /= units_.scale;
    }
    units_.range = range_for(options.clip, {raw_.data(), raw_.size()});
    ball_ = weighted_ball(0, {*options.norm_power, options.norm_smoothing}, data_, execution.threads());
    data_.value = prepared(units_);
  }

  [[nodiscard]] const Preparation& units() const { return units_; }
  [[nodiscard]] const SideOffsets& start() const { return start_; }
  [[nodiscard]] const OffsetRidge& ridge() const { return ridge_; }
  /// In these units.
  [[nodiscard]] const SparseObservations& data() const { return data_; }
  [[nodiscard]] SparseObservations raw() const { return {data_.pattern, raw_, data_.weight}; }
  [[nodiscard]] const Execution& execution() const { return execution_; }

  /// Over X and offsets.
  [[nodiscard]] Problem joint(const Loss& loss, double radius) const {
    return {data_, loss, NoPenalty{}, ball(radius), ridge_};
  }
  /// The units with these offsets.
  [[nodiscard]] Preparation with(const SideOffsets& offsets) const {
    Preparation preparation = units_;
    preparation.row_offset = offsets.row;
    preparation.col_offset = offsets.col;
    for (std::vector<double>* side : {&preparation.row_offset, &preparation.col_offset}) {
      for (double& offset : *side) offset *= units_.scale;
    }
    return preparation;
  }
  /// Over X, of data prepared like that.
  [[nodiscard]] Problem given(const Loss& loss, double radius, const Preparation& preparation) const {
    return {SparseObservations{data_.pattern, prepared(preparation), data_.weight}, loss, NoPenalty{}, ball(radius)};
  }

  /// value(row, column, entry) of every entry.
  template <class Value>
  void for_each(const Value& value) const {
    visit_rows(data_.pattern, [&]<class Column>(const EntriesByRow<Column>& entries) {
      SideSums<Column>(entries, execution_).for_each([&](int, Index i, Index j, std::size_t e) { value(i, j, e); });
    });
  }

 private:
  [[nodiscard]] TraceNormBall ball(double radius) const {
    TraceNormBall result = ball_;
    result.radius = radius;
    return result;
  }
  [[nodiscard]] std::vector<Real> prepared(const Preparation& preparation) const {
    std::vector<Real> value(raw_.size());
    for_each([&](Index i, Index j, std::size_t e) { value[e] = Real(preparation.apply(double(raw_[e]), i, j)); });
    return value;
  }

  Preparation units_;
  OffsetRidge ridge_;
  SideOffsets start_;
  SparseObservations data_;
  Array<Real> raw_;
  TraceNormBall ball_;
  const Execution& execution_;
};

/// What is chosen on held-out entries, and the answer it was chosen with.
struct Settings {
  double radius = 0;
  Loss loss;
  int turns = 0;
  bool offsets_before = false;  ///< they stay as they were fitted before X, with gross outliers left out
  Refit refit{};
  LowRankMatrix x{};
  SideOffsets offsets{};
};

std::vector<double> bases(const SideOffsets& offsets, const Entries& entries, const Execution& execution) {
  std::vector<double> base(entries.row.size());
  for_each_element(execution, base.size(), [&](std::size_t e) {
    base[e] =
        offsets.row[static_cast<std::size_t>(entries.row[e])] + offsets.col[static_cast<std::size_t>(entries.col[e])];
  });
  return base;
}

/// The offsets that go with predictions, or beyond them.
SideOffsets turned(const PartOfData& part, const LowRankMatrix& now_x, const Settings& now, double ahead) {
  std::vector<Real> x;
  sample(now_x, gained(now_x, now.refit), part.data().pattern, part.execution(), x);
  SideOffsets offsets = now.offsets;
  refit_offsets(now.loss, part.ridge(), part.data(), x, offsets, part.execution());
  const auto go = [&](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] + ahead * (to[i] - from[i]);
  };
  go(now.offsets.row, offsets.row);
  go(now.offsets.col, offsets.col);
  return offsets;
}

/// What predictions are off by, in raw units: how wide intervals must be, and how often they would have been wide
/// enough.
Spread spread_of(const PartOfData& part, const Settings& settings, const Entries& held) {
  const Execution& execution = part.execution();
  const Preparation& units = part.units();
  const std::vector<double> values = gained(settings.x, settings.refit);
  const auto predicted = [&](double base, Real x) {
    return units.range.clip(units.offset + units.scale * (base + double(x)));
  };
  const SparseObservations raw = part.raw();
  std::vector<Real> errors;
  sample(settings.x, values, raw.pattern, execution, errors);
  part.for_each([&](Index i, Index j, std::size_t e) {
    const double base =
        settings.offsets.row[static_cast<std::size_t>(i)] + settings.offsets.col[static_cast<std::size_t>(j)];
    errors[e] = Real(std::abs(double(raw.value[e]) - predicted(base, errors[e])));
  });
  Spread spread = widths(raw.pattern, errors, execution);
  std::vector<Real>().swap(errors);

  Judged judged{held, bases(settings.offsets, held, execution)};
  std::array<std::vector<Real>, 1> answer;
  sample(settings.x, {&values, 1}, held, execution, answer);
  for_each_element(execution, answer[0].size(),
                   [&](std::size_t e) { judged.fitted[e] = predicted(judged.fitted[e], answer[0][e]); });
  std::vector<Offset> counts(static_cast<std::size_t>(raw.pattern.rows()));
  for (Index i = 0; i < raw.pattern.rows(); ++i)
    counts[static_cast<std::size_t>(i)] = raw.pattern.begin()[i + 1] - raw.pattern.begin()[i];
  correct(spread, correction(spread, judged, counts), counts);
  spread.scores = scores(spread, judged);
  return spread;
}

/// Tries settings, each from the answer of the one before.
class Search {
 public:
  Search(const FitOptions& options, const PartOfData& part, const Entries& held_out, const RunHooks& hooks)
      : options_(options), part_(part), held_(held_out), hooks_(hooks) {
    prepare(part.units(), held_, options.run.threads);
    hooks_.validation = nullptr;
  }

  Settings run() {
    climb();
    if (options_.refit && best_.radius > 0) take_turns();
    return std::move(best_);
  }

  [[nodiscard]] std::vector<RadiusStep> take_steps() { return std::move(steps_); }
  [[nodiscard]] std::size_t best() const { return best_step_; }

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
      if (!better && (best_.radius > 0 || ++since_best > kMostFruitless)) break;
      if (!first && better && steps_[best_step_].validation_error > before * (1 - kStillClimbing)) break;
      now.radius *= kRatio;
      now.x.scale(kRatio);
    }
    if (const double better = between(); better > 0 && in_time()) {
      tell(hooks_, "a radius between");
      now = best_;
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
    Settings now = best_;
    if (now.offsets_before) return;
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
    const LowRankMatrix start = std::move(now.x);
    const SideOffsets offsets = now.offsets;
    hooks_.start = &start;
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
    RadiusStep step;
    step.radius = now.radius;
    step.loss = to_string(now.loss);
    step.turn = now.offsets_before ? -1 : now.turns;
    step.gain = taken ? now.refit.gain : 1;
    step.small_gain = taken ? now.refit.small_gain : 1;
    step.validation_error = taken ? now.refit.score : now.refit.score_of_1;
    step.objective = result.objective;
    step.relative_gap = result.relative_gap;
    step.rank = now.x.terms();
    step.iterations = result.iterations;
    step.passes = result.counters.passes;
    step.seconds = result.seconds;
    steps_.push_back(step);
    const bool better =
        steps_.size() == 1 || step.validation_error < steps_[best_step_].validation_error * (1 - kWorthwhile);
    if (better) {
      best_step_ = steps_.size() - 1;
      best_ = now;
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
  Settings best_;
};

/// The answer for these settings on these entries, from where the settings were found.
void answer(const PartOfData& part, Settings settings, const RunHooks& given_hooks, PhaseClock& clock, Fit& fit) {
  RunHooks hooks = given_hooks;
  RunOptions run = after(fit.run, fit.path);
  if (!run.gap && std::holds_alternative<methods::Corrective>(fit.method)) run.gap = kAnswerGap;
  hooks.start = settings.x.terms() > 0 ? &settings.x : nullptr;
  tell(hooks, "solving");
  if (settings.turns > 0 || settings.offsets_before || settings.radius == 0) {  // the last: offsets say it all
    settings.offsets = settings.turns > 0 ? turned(part, settings.x, settings, 1) : part.start();
    fit.preparation = part.with(settings.offsets);
    fit.problem = part.given(settings.loss, settings.radius, fit.preparation);
    clock.end("prepare");
    fit.result = tracenorm::solve(fit.problem, fit.method, run, hooks);
    clock.end(fit.result);
  } else {
    hooks.start_offsets = &settings.offsets;
    fit.problem = part.joint(settings.loss, settings.radius);
    clock.end("prepare");
    fit.result = tracenorm::solve(fit.problem, fit.method, run, hooks);
    clock.end(fit.result);
    settings.offsets = fit.result.offsets;
    fit.preparation = part.with(settings.offsets);
  }
  if (fit.refit && fit.refit->taken) {
    if (settings.turns > 0) settings.offsets = turned(part, fit.result.solution, settings, 1);
    Preparation units = part.with(settings.offsets);
    fit.predictor =
        Reading{gained(fit.result.solution, settings.refit), std::move(units.row_offset), std::move(units.col_offset)};
  }
  if (settings.radius == 0 && cancelled(hooks)) {  // a bound would be that of a radius which nobody has chosen
    fit.result.status = Status::interrupted;
    fit.result.message = "interrupted before a radius was chosen";
    fit.result.lower_bound = -std::numeric_limits<double>::infinity();
    fit.result.relative_gap = std::numeric_limits<double>::infinity();
    fit.result.certificate = {};
  }
}

}  // namespace

bool asks_for_the_middle(const std::optional<Loss>& loss) {
  const auto* quantile = loss ? std::get_if<losses::Quantile>(&*loss) : nullptr;
  return quantile == nullptr || quantile->level == 0.5;
}

bool fits_offsets(const FitOptions& options) {
  return *options.prepare == Preparation::Kind::both && carries_offsets(*options.method) &&
         std::holds_alternative<NoPenalty>(options.penalty) && !options.choose_l1 && asks_for_the_middle(options.loss);
}

Fit fit_completion(FitData data, const FitOptions& options, const RunHooks& hooks) {
  Fit fit;
  PhaseClock clock(fit.profile);
  fit.norm_weights = {*options.norm_power, options.norm_smoothing};
  fit.method = *options.method;
  fit.run = options.run;
  const Execution execution(options.run.threads);
  const bool own = options.chooses_radius() && data.validation.size() == 0;
  Split split;  // what is fitted while settings are chosen, and what they are judged on
  if (own) {
    split = split_entries(std::move(data.entries), {1 - kChoosingShare, kChoosingShare, 0}, options.run.seed,
                          std::move(data.weight), options.run.threads);
  } else {
    split.train = std::move(data.entries);
    split.train_weight = std::move(data.weight);
    split.validation = data.validation;
  }
  const auto by_rows = [&](const Entries& entries, const std::vector<Real>& weight) {
    return make_sparse(data.rows, data.cols, entries, weight, options.run.threads);
  };
  SparseObservations train = by_rows(split.train, split.train_weight);
  split.train = {};
  split.train_weight = {};
  const Entries& held = split.validation;
  std::optional<PartOfData> part(std::in_place, options, std::move(train), execution);
  Settings settings{.radius = options.radius.value_or(0), .loss = *options.loss};
  settings.x = LowRankMatrix(data.rows, data.cols);
  settings.offsets = part->start();
  clock.end("prepare");
  if (options.chooses_radius()) {
    Search search(options, *part, held, hooks);
    settings = search.run();
    fit.path_best = search.best();
    fit.path = search.take_steps();
    if (options.refit) fit.refit = settings.refit;
  }
  if (!(fit.refit && fit.refit->taken)) settings.refit = {};
  // Widths and scores are those of the model the held-out entries were kept from; the last one is a little better.
  if (options.chooses_radius() && held.size() > 0) fit.spread = spread_of(*part, settings, held);
  if (options.chooses_radius()) clock.end("search", passes_of(fit.path));
  // Who stops the search does not wait for the offsets of all entries: the answer is then that of the part.
  if (own && !cancelled(hooks)) {
    SparseObservations all = part->raw();
    part.reset();
    all = unite(all, by_rows(held, split.validation_weight), options.run.threads);
    split = {};
    part.emplace(options, std::move(all), execution);
  }
  answer(*part, std::move(settings), hooks, clock, fit);
  clock.end("answer");
  if (data.validation.size() > 0) {
    const Model model = fit.model();
    fit.validation = judge(model.factors, fit.problem.loss, model.preparation, data.validation);
  }
  return fit;
}

}  // namespace tracenorm
