#include "tracenorm/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "base/memory.hpp"
#include "base/random.hpp"
#include "base/topic.hpp"
#include "fit/completion.hpp"
#include "fit/memory_need.hpp"
#include "fit/phase.hpp"
#include "fit/split.hpp"
#include "fit/value_range.hpp"
#include "methods/environment.hpp"
#include "model/entry_checks.hpp"
#include "model/shared_rows.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/fold_in.hpp"

namespace tracenorm {

namespace {

/// Weights of the trace norm that were best or near best on all data measured (docs/measurements.md).
constexpr double kAutomaticNormPower = 0.5;
/// In deviations. Near zero it is smooth, which predicts better and certifies faster than the absolute loss; an outlier
/// pulls no harder than a deviation of half the noise.
constexpr losses::Huber kAutomaticLoss{0.5};
/// Where offsets are fitted together with X; a narrower one is tried beside it.
constexpr losses::Huber kAutomaticJointLoss{1.0};

/// A smaller problem to choose radius and penalty on.
struct Trial {
  Problem problem;
  Entries validation;  ///< in prepared units
};

[[noreturn]] void too_few(Offset entries) {
  throw TopicError(
      ErrorCode::input, Topic::too_few_entries,
      fmt::format("radius: {} entries are too few to hold some out and choose it on them; give a radius, or at "
                  "least {} entries",
                  entries, kFewestToChoose),
      "radius");
}

/// The quantile of this level; NaN are left out.
double quantile(double level, std::span<const Real> values) {
  std::vector<Real> known;
  std::copy_if(values.begin(), values.end(), std::back_inserter(known), [](Real v) { return !std::isnan(v); });
  const auto at = known.begin() + static_cast<std::ptrdiff_t>(level * static_cast<double>(known.size() - 1));
  std::nth_element(known.begin(), at, known.end());
  return double(*at);
}

const Array<Real>& plain(const Array<Real>& values) { return values; }
Array<Real> plain(const DenseValues& values) { return values.plain(); }

/// Makes the preparation and changes the data; complaints are about the option.
template <class Data>
Preparation fit_and_prepare(const FitOptions& options, Data& data) {
  try {
    Preparation preparation;
    Ranks* ranks = nullptr;
    if constexpr (std::is_same_v<Data, SparseObservations>) {
      preparation = fit_preparation(*options.prepare, averaging_for(*options.loss), data, options.run.threads);
      ranks = ranks_of(data);
    } else {
      preparation = fit_preparation(*options.prepare, averaging_for(*options.loss), data);
    }
    if (!options.clip || *options.clip) {
      const auto& values = plain(data.value);
      preparation.range =
          range_for(options.clip, {values.data(), values.size()}, ranks, Execution(options.run.threads));
    }
    const auto change = [&](const Preparation& by) {
      if constexpr (std::is_same_v<Data, SparseObservations>) {
        prepare(by, data, options.run.threads);
      } else {
        prepare(by, data);
      }
    };
    change(preparation);
    const auto* loss = std::get_if<losses::Quantile>(&*options.loss);
    if (loss != nullptr && has_offsets(preparation.kind)) {
      // Offsets are of the middle. What is asked for is further up or down, and that is no business of X.
      Preparation shift{.kind = Preparation::Kind::center};
      const auto& values = plain(data.value);
      shift.offset = quantile(loss->level, {values.data(), values.size()});
      change(shift);
      preparation.offset += preparation.scale * shift.offset;
    }
    return preparation;
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("prepare: {}", error.what()), "prepare");
  }
}

Problem make_problem(const FitOptions& options, Observations observations) {
  Problem problem{std::move(observations), *options.loss, options.penalty, {}};
  problem.constraint =
      weighted_ball(options.radius.value_or(TraceNormBall{}.radius), {*options.norm_power, options.norm_smoothing},
                    problem.observations, options.run.threads);
  problem.constraint.symmetry = options.symmetry;
  return problem;
}

Problem make_problem(const FitOptions& options, SparseObservations data, Preparation& preparation) {
  preparation = fit_and_prepare(options, data);
  return make_problem(options, Observations(std::move(data)));
}

Trial hold_out(const FitOptions& options, const FitData& data) {
  Split split = split_entries(data.entries, {1 - kChoosingShare, kChoosingShare, 0}, options.run.seed, data.weight,
                              options.run.threads);
  Preparation preparation;
  Trial trial{
      make_problem(options, make_sparse(data.rows, data.cols, split.train, split.train_weight, options.run.threads),
                   preparation),
      std::move(split.validation)};
  prepare(preparation, trial.validation);
  return trial;
}

constexpr std::uint64_t kHeldOutStream = 0x2545f4914f6cdd1dULL;

void hold_out(DenseObservations& data, std::uint64_t seed, Entries& validation) {
  std::vector<std::size_t> taken;
  Random random(seed ^ kHeldOutStream);
  const bool square = data.rows == data.cols;
  const auto take = [&](Index i, Index j) {
    const std::size_t at =
        static_cast<std::size_t>(i) * static_cast<std::size_t>(data.cols) + static_cast<std::size_t>(j);
    const Real value = data.value[at];
    if (std::isnan(value)) return;
    validation.row.push_back(i);
    validation.col.push_back(j);
    validation.value.push_back(value);
    taken.push_back(at);
  };
  for (Index i = 0; i < data.rows; ++i) {
    for (Index j = square ? i : 0; j < data.cols; ++j) {
      if (random.uniform() >= kChoosingShare) continue;
      take(i, j);
      if (square && i != j) take(j, i);
    }
  }
  data.value = data.value.without(taken);
}

/// Of a symmetric matrix: (i, j) and (j, i) are held out together.
void hold_out(SparseObservations& data, std::uint64_t seed, Entries& validation, int threads) {
  const SparsePattern& pattern = data.pattern;
  Random random(seed ^ kHeldOutStream);
  Entries train;
  std::vector<Real> weight;
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      const Index j = pattern.col()[e];
      if (j < i) continue;
      const bool taken = random.uniform() < kChoosingShare;
      Entries& part = taken ? validation : train;
      for (const auto& [row, col] : {std::pair(i, j), std::pair(j, i)}) {
        part.row.push_back(row);
        part.col.push_back(col);
        part.value.push_back(data.value[static_cast<std::size_t>(e)]);
        if (!taken && !data.weight.empty()) weight.push_back(data.weight[static_cast<std::size_t>(e)]);
        if (i == j) break;
      }
    }
  }
  data = make_sparse(pattern.rows(), pattern.cols(), train, weight, threads);
}

Trial hold_out(const FitOptions& options, const Problem& problem) {
  Trial trial{problem, {}};
  if (auto* dense = std::get_if<DenseObservations>(&trial.problem.observations)) {
    hold_out(*dense, options.run.seed, trial.validation);
  } else {
    hold_out(std::get<SparseObservations>(trial.problem.observations), options.run.seed, trial.validation,
             options.run.threads);
  }
  if (trial.validation.size() == 0 || observed(trial.problem.observations) == 0) {
    too_few(observed(problem.observations));
  }
  return trial;
}

/// Chooses the radius (and the penalty) and puts them into the problem. Returns whether the answer is already there:
/// the best iterate on validation entries that were given, or what there was when the path was interrupted.
bool choose(bool with_l1, Trial* trial, const RunHooks& hooks, Fit& fit) {
  Problem& judged = trial != nullptr ? trial->problem : fit.problem;
  RunOptions run = fit.run;
  RunHooks judging = hooks;
  if (trial != nullptr) {  // a part of the data, outliers included
    judging.validation = &trial->validation;
    run.validation_measure = ValidationMeasure::loss;
    run.certificate_share = 0;  // bounds of a smaller problem are nobody's
  }
  RadiusPath path = with_l1 ? choose_radius_and_penalty(judged, fit.method, run, judging)
                            : choose_radius(judged, fit.method, run, judging);
  fit.path = std::move(path.steps);
  fit.path_best = path.best;
  fit.result = std::move(path.result);
  const bool interrupted = fit.result.status == Status::interrupted;
  if (trial == nullptr) {
    const bool certified = fit.run.gap || std::holds_alternative<methods::Corrective>(fit.method);
    return interrupted || !certified;
  }
  fit.problem.constraint.radius = judged.radius();
  fit.problem.penalty = judged.penalty;
  if (interrupted) {  // the bounds were those of the smaller problem
    fit.result.objective = objective(fit.problem, fit.result.solution);
    fit.result.lower_bound = -std::numeric_limits<double>::infinity();
    fit.result.relative_gap = std::numeric_limits<double>::infinity();
    fit.result.certificate = {};
  }
  return interrupted;
}

/// Chooses what is to be chosen and solves.
Fit solve(const FitOptions& options, Problem problem, Preparation preparation, std::optional<Trial> trial,
          const Entries& validation, RunHooks hooks, std::vector<PhaseCost> profile) {
  Fit fit;
  fit.profile = std::move(profile);
  PhaseClock clock(fit.profile);
  fit.problem = std::move(problem);
  fit.preparation = std::move(preparation);
  fit.norm_weights = {*options.norm_power, options.norm_smoothing};
  fit.method = *options.method;
  fit.run = options.run;
  if (wants_labels(fit.problem.loss)) fit.run.validation_measure = ValidationMeasure::loss;

  Entries prepared = validation;
  prepare(fit.preparation, prepared, options.run.threads);
  hooks.validation = prepared.size() > 0 ? &prepared : nullptr;
  const bool chooses = options.chooses_radius();
  const bool solved = chooses && choose(options.choose_l1, trial ? &*trial : nullptr, hooks, fit);
  if (chooses) clock.end("search", passes_of(fit.path));
  if (!solved) {
    trial.reset();
    const LowRankMatrix start = fit.result.solution;  // where the path stood
    if (chooses) hooks.start = &start;
    tell(hooks, "solving");
    fit.result = tracenorm::solve(fit.problem, fit.method, after(fit.run, fit.path), hooks);
    clock.end(fit.result);
  }
  if (validation.size() > 0) {
    fit.validation = judge(fit.result.solution, fit.problem.loss, fit.preparation, validation);
  }
  return fit;
}

}  // namespace

namespace {

/// Which method is better on measurements (docs/measurements.md): corrective where a gap is asked for and where offsets
/// are fitted together with X.
bool suits_corrective(const FitOptions& options) {
  if (options.run.gap) return true;
  const bool labels = options.loss && wants_labels(*options.loss);
  return options.chooses_radius() && asks_for_the_middle(options.loss) && !labels && !options.choose_l1 &&
         std::holds_alternative<NoPenalty>(options.penalty) &&
         options.prepare.value_or(Preparation::Kind::both) == Preparation::Kind::both;
}

}  // namespace

Model Fit::model() const {
  Model model{result.solution, {}, {}, preparation};
  model.spread = spread;
  if (predictor) model.predict_by(*predictor);
  return model;
}

namespace {

/// Offsets are not symmetric, and what is semidefinite is the matrix in the units of the data.
void check_symmetry(const FitOptions& options) {
  using Kind = Preparation::Kind;
  if (options.symmetry == Symmetry::none) return;
  const bool scales =
      *options.prepare == Kind::none || (*options.prepare == Kind::zscore && options.symmetry == Symmetry::symmetric);
  if (scales) return;
  throw Error(ErrorCode::usage,
              fmt::format("prepare: {} does not fit symmetry = {}; use none{}", to_string(*options.prepare),
                          to_string(options.symmetry), options.symmetry == Symmetry::symmetric ? " or zscore" : ""),
              "prepare");
}

}  // namespace

FitOptions settle(FitOptions options) {
  const bool chooses = options.chooses_radius();
  const bool complement = std::holds_alternative<ComplementSquaredPenalty>(options.penalty);  // takes no norm weights
  if (!options.method)
    options.method = suits_corrective(options) ? Method(methods::Corrective{}) : Method(methods::FrankWolfe{});
  if (!options.norm_power) options.norm_power = chooses && !complement ? kAutomaticNormPower : 0;
  using Kind = Preparation::Kind;
  const bool labels = options.loss && wants_labels(*options.loss);
  if (!options.clip && (labels || !chooses)) options.clip = false;
  if (!options.prepare)
    options.prepare = labels || options.symmetry != Symmetry::none ? Kind::none : chooses ? Kind::both : Kind::zscore;
  if (labels && *options.prepare != Kind::none) {
    throw Error(ErrorCode::usage,
                fmt::format("prepare: {} does not fit loss {}, whose labels must stay -1 and +1; use none",
                            to_string(*options.prepare), to_string(*options.loss)),
                "prepare");
  }
  check_symmetry(options);
  if (!options.loss) {
    options.choose_loss = chooses && fits_offsets(options);
    options.loss = losses::Absolute{};
    if (chooses) options.loss = options.choose_loss ? kAutomaticJointLoss : kAutomaticLoss;
  }
  return options;
}

namespace {

/// The list of a symmetric matrix: the mean of two entries that differ, or the one there is.
void symmetrize(FitData& data, int threads) {
  const Observations both = symmetrized(make_sparse(data.rows, data.cols, data.entries, data.weight, threads));
  const auto& sparse = std::get<SparseObservations>(both);
  data.entries = {};
  for (Index i = 0; i < data.rows; ++i) {
    for (Offset e = sparse.pattern.begin()[i]; e < sparse.pattern.begin()[i + 1]; ++e) {
      data.entries.row.push_back(i);
      data.entries.col.push_back(sparse.pattern.col()[e]);
    }
  }
  data.entries.value.assign(sparse.value.begin(), sparse.value.end());
  data.weight.assign(sparse.weight.begin(), sparse.weight.end());
}

}  // namespace

bool takes_dealt(const FitOptions& settled) {
  const bool quantile = std::holds_alternative<losses::Quantile>(*settled.loss);
  return fits_offsets(settled) ||
         (!settled.chooses_radius() && std::holds_alternative<NoPenalty>(settled.penalty) && !settled.symmetrize &&
          settled.symmetry == Symmetry::none && !(quantile && has_offsets(*settled.prepare)) &&
          !std::holds_alternative<losses::Custom>(*settled.loss));
}

namespace {

/// All entries, whose lists are freed.
SparseObservations in_rows(FitData& data, int threads) {
  Entries entries = std::exchange(data.entries, {});
  const std::vector<Real> weight = std::exchange(data.weight, {});
  if (!data.dealt) return make_sparse(data.rows, data.cols, entries, weight, threads);
  std::vector<Offset>().swap(data.dealt->place);
  return make_shared(data.dealt->first, data.dealt->last, data.cols, std::move(entries), weight, threads,
                     *data.dealt->ranks);
}

/// With options that are settled.
Fit fit_entries(FitData data, const FitOptions& chosen, const RunHooks& hooks) {
  if (chosen.chooses_radius() && data.validation.size() == 0 && data.all() < kFewestToChoose) {
    too_few(data.all());
  }
  check_held_out(data.validation, data.rows, data.cols, *chosen.loss);
  require_memory(data, chosen, available_memory());
  tell(hooks, "preparing the data");
  if (data.dealt && !takes_dealt(chosen)) {
    throw Error(ErrorCode::usage,
                "entries that ranks share by rows cannot be fitted like that; give all of them to each");
  }
  if (data.dealt && hooks.ranks != data.dealt->ranks) {
    throw Error(ErrorCode::usage, "entries that ranks share by rows are fitted by these ranks (RunHooks::ranks)");
  }
  if (fits_offsets(chosen)) return fit_completion(std::move(data), chosen, hooks);
  std::vector<PhaseCost> profile;
  PhaseClock clock(profile);
  if (chosen.symmetrize) symmetrize(data, chosen.run.threads);
  const bool tries = chosen.chooses_radius() && data.validation.size() == 0;
  const bool symmetric = chosen.symmetry != Symmetry::none;
  std::optional<Trial> trial;
  if (tries && !symmetric) trial = hold_out(chosen, data);
  Preparation preparation;
  SparseObservations sparse = in_rows(data, chosen.run.threads);
  Problem problem = make_problem(chosen, std::move(sparse), preparation);
  if (tries && symmetric) {
    check(problem, chosen.run.threads);  // a part of data that are not symmetric would be made so
    trial = hold_out(chosen, problem);
  }
  clock.end("prepare");
  return solve(chosen, std::move(problem), std::move(preparation), std::move(trial), data.validation, hooks,
               std::move(profile));
}

}  // namespace

Fit fit(FitData data, const FitOptions& options, const RunHooks& hooks) {
  FitOptions chosen = settle(options);
  check_fields(chosen);
  chosen.run.threads = threads_of(chosen.run, hooks);
  const bool dealt = data.dealt.has_value();
  Fit fit = fit_entries(std::move(data), chosen, hooks);
  if (dealt) fit.row_price = row_price(fit);
  return fit;
}

Fit fit(DenseObservations matrix, const FitOptions& options, const RunHooks& hooks) {
  FitOptions chosen = settle(options);
  check_fields(chosen);
  chosen.run.threads = threads_of(chosen.run, hooks);
  tell(hooks, "preparing the data");
  std::vector<PhaseCost> profile;
  PhaseClock clock(profile);
  if (chosen.symmetrize) matrix = std::get<DenseObservations>(symmetrized(std::move(matrix)));
  Preparation preparation = fit_and_prepare(chosen, matrix);
  Problem problem = make_problem(chosen, std::move(matrix));
  std::optional<Trial> trial;
  if (chosen.chooses_radius()) trial = hold_out(chosen, problem);
  clock.end("prepare");
  return solve(chosen, std::move(problem), std::move(preparation), std::move(trial), {}, hooks, std::move(profile));
}

}  // namespace tracenorm
