#include "fit/completion.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "fit/gain.hpp"
#include "fit/phase.hpp"
#include "fit/sampling.hpp"
#include "fit/settings_search.hpp"
#include "fit/share_search.hpp"
#include "fit/split.hpp"
#include "fit/spread.hpp"
#include "methods/cancelled.hpp"
#include "model/shared_rows.hpp"

namespace tracenorm {

namespace {

/// Of the answer, where none is asked for.
constexpr double kAnswerGap = 0.005;

/// Of large data so few are held out, but so many at least: settings are found on a share of the rows, and these adjust
/// them.
constexpr double kSmallShare = 0.01;
constexpr double kEnoughHeldOut = 10'000;

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
  sample(settings.x, values, raw, execution, errors);
  part.for_each([&](Index i, Index j, std::size_t e) {
    const double base =
        settings.offsets.row[static_cast<std::size_t>(i)] + settings.offsets.col[static_cast<std::size_t>(j)];
    errors[e] = Real(std::abs(double(raw.value[e]) - predicted(base, errors[e])));
  });
  Spread spread = widths(raw, errors, execution);
  std::vector<Real>().swap(errors);

  Judged judged{held, bases(settings.offsets, held, execution)};
  std::array<std::vector<Real>, 1> answer;
  sample(settings.x, {&values, 1}, held, execution, answer);
  for_each_element(execution, answer[0].size(),
                   [&](std::size_t e) { judged.fitted[e] = predicted(judged.fitted[e], answer[0][e]); });
  const std::vector<Offset> counts = count_observed(raw, execution.threads()).row;
  correct(spread, correction(spread, judged, counts), counts);
  spread.scores = scores(spread, judged);
  return spread;
}

/// This share of the entries.
Split hold_out(FitData& data, double held, const FitOptions& options) {
  const Shares shares{1 - held, held, 0};
  if (!data.dealt)
    return split_entries(std::move(data.entries), shares, options.run.seed, std::move(data.weight),
                         options.run.threads);
  return split_entries(std::move(data.entries), *std::move(data.dealt), shares, options.run.seed,
                       std::move(data.weight), options.run.threads);
}

/// The training entries, whose lists are freed.
SparseObservations by_rows(const FitData& data, Split& split, int threads) {
  Entries entries = std::exchange(split.train, {});
  const std::vector<Real> weight = std::exchange(split.train_weight, {});
  if (!split.dealt) return make_sparse(data.rows, data.cols, entries, weight, threads);
  std::vector<Offset>().swap(split.dealt->place);
  return make_shared(split.dealt->first, split.dealt->last, data.cols, std::move(entries), weight, threads,
                     *split.dealt->ranks);
}

/// Held-out entries of the rows that `data` has here.
SparseObservations held_in_rows(const SparseObservations& data, const Entries& held, const std::vector<Real>& weight,
                                int threads) {
  if (!data.shared) return make_sparse(data.pattern.rows(), data.pattern.cols(), held, weight, threads);
  std::vector<std::size_t> which;
  Entries here = entries_here(held, *data.shared, which);
  for (Index& row : here.row) row -= first_row(data);
  std::vector<Real> weight_here;
  for (const std::size_t e : which) {
    if (!weight.empty()) weight_here.push_back(weight[e]);
  }
  return make_sparse(data.pattern.rows(), data.pattern.cols(), here, weight_here, threads);
}

/// The answer for these settings on these entries, from where the settings were found. The offsets become those that
/// predictions are made with.
void answer(PartOfData& part, Settings& settings, const RunHooks& given_hooks, PhaseClock& clock, Fit& fit) {
  RunHooks hooks = given_hooks;
  RunOptions run = after(fit.run, fit.path);
  if (!run.gap && std::holds_alternative<methods::Corrective>(fit.method)) run.gap = kAnswerGap;
  hooks.start = settings.x.terms() > 0 ? &settings.x : nullptr;
  hooks.free_start = &settings.x;
  tell(hooks, "solving");
  if (settings.turns > 0 || settings.offsets_before || settings.radius == 0) {  // the last: offsets say it all
    settings.offsets = settings.turns > 0 ? turned(part, settings.x, settings, 1) : part.start();
    fit.preparation = part.with(settings.offsets);
    fit.problem = part.given(settings.loss, settings.radius, fit.preparation);
    part.forget_raw();
    clock.end("prepare");
    fit.result = tracenorm::solve(fit.problem, fit.method, run, hooks);
    clock.end(fit.result);
  } else {
    hooks.start_offsets = &settings.offsets;
    fit.problem = part.joint(settings.loss, settings.radius);
    part.forget_raw();
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

bool searches_share(const FitData& data, const FitOptions& options) {
  return fits_offsets(options) && options.chooses_radius() && data.validation.size() == 0 &&
         !data.dealt &&  // ranks with parts search on all of it
         data.entries.size() > options.search_entries;
}

Fit fit_completion(FitData data, const FitOptions& options, const RunHooks& hooks) {
  Fit fit;
  PhaseClock clock(fit.profile);
  fit.norm_weights = {*options.norm_power, options.norm_smoothing};
  fit.method = *options.method;
  fit.run = options.run;
  const bool own = options.chooses_radius() && data.validation.size() == 0;
  const bool large = searches_share(data, options);
  const Execution execution(options.run.threads);
  Split split;  // what is fitted while settings are chosen, and what they are judged on
  if (own) {
    const double enough = kEnoughHeldOut / static_cast<double>(data.entries.size());
    split = hold_out(data, large ? std::clamp(enough, kSmallShare, kChoosingShare) : kChoosingShare, options);
  } else {
    split.train = std::move(data.entries);
    split.train_weight = std::move(data.weight);
    split.dealt = std::move(data.dealt);
    split.validation = data.validation;
  }
  SparseObservations train = by_rows(data, split, options.run.threads);
  const Entries& held = split.validation;
  std::optional<PartOfData> part(std::in_place, options, std::move(train), execution);
  Settings settings{.radius = options.radius.value_or(0), .loss = *options.loss};
  settings.x = LowRankMatrix(data.rows, data.cols);
  settings.offsets = part->start();
  clock.end("prepare");
  if (options.chooses_radius()) {
    FoundSettings found;
    if (large) {
      LargeFindings findings = search_large(options, *part, held, hooks);
      found = std::move(findings.found);
      fit.searched = findings.share;
    } else {
      found = search_settings(options, *part, held, hooks);
    }
    settings = std::move(found.settings);
    fit.path = std::move(found.steps);
    fit.path_best = found.best;
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
    all = unite(all, held_in_rows(all, held, split.validation_weight, options.run.threads), options.run.threads);
    split = {};
    part.emplace(options, std::move(all), execution);
  }
  answer(*part, settings, hooks, clock, fit);
  clock.end("answer");
  if (data.validation.size() > 0) {
    const Model model = fit.model();
    fit.validation = judge(model.factors, fit.problem.loss, model.preparation, data.validation);
  }
  return fit;
}

}  // namespace tracenorm
