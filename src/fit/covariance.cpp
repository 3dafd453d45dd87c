#include "tracenorm/covariance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "base/topic.hpp"
#include "fit/phase.hpp"
#include "fit/sample_moments.hpp"
#include "linalg/lapack.hpp"
#include "linalg/symmetric_eigen.hpp"
#include "methods/cancelled.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/sparse_estimate.hpp"

namespace tracenorm {

namespace {

/// From one radius to the next, and how far below the best one so far the path of another penalty begins.
constexpr double kCovarianceRatio = 1.4;
constexpr double kBelowBest = kCovarianceRatio * kCovarianceRatio;
constexpr int kMostSteps = 24;
/// So many radii, or penalties, in a row without a better one end the search.
constexpr int kWithoutBetter = 2;
/// A radius so large that X can follow all of the data has an objective near zero, and no relative gap: no more than
/// this is tried then.
constexpr int kTrialIterations = 12;
constexpr double kTrialGap = 0.01;

/// Penalties to try: the slope of the loss at so many times the error of a correlation, which is 1 / sqrt(samples).
constexpr std::array<double, 7> kErrors{0, 0.25, 0.5, 1, 1.5, 2, 3};
/// A loss with a kink has the same slope at every error: this share of it instead, for each error.
constexpr double kShareOfSlope = 0.25;

/// How far from their mean the values of a variable may be: their squares, and one over these, are numbers of double
/// precision that have room for what is computed of them.
constexpr double kFarthest = 1e140;

/// Where a covariance may be inverted as it is.
constexpr double kInvertible = 1e-6;

std::string variable_text(const Labels& names, Index variable) {
  return names.names.empty() ? fmt::format("variable {}", names.name(variable))
                             : fmt::format("variable '{}'", names.name(variable));
}

[[noreturn]] void too_few_samples(const std::string& message) {
  throw TopicError(ErrorCode::input, Topic::too_few_entries, message);
}

/// Means and deviations go into the estimate, and out of the samples.
void standardize(Samples& samples, CovarianceEstimate& estimate, const Labels& names) {
  const Index p = samples.variables;
  estimate.mean = Eigen::VectorXd::Zero(p);
  estimate.deviation = Eigen::VectorXd::Zero(p);
  for (Index j = 0; j < p; ++j) {
    const auto each = [&](auto&& visit) {
      for (auto at = static_cast<std::size_t>(j); at < samples.value.size(); at += static_cast<std::size_t>(p))
        if (!std::isnan(samples.value[at])) visit(samples.value[at]);
    };
    double count = 0;
    double sum = 0;
    each([&](double value) { ++count, sum += value; });
    if (count < 2) {
      too_few_samples(fmt::format("{} has {} in {} samples; a variance needs two: leave it out, or give more samples",
                                  variable_text(names, j), count == 0 ? "no value" : "one value", samples.count));
    }
    const double mean = sum / count;
    double squares = 0;
    double farthest = 0;
    each([&](double value) {
      squares += (value - mean) * (value - mean);
      farthest = std::max(farthest, std::abs(value - mean));
    });
    const bool differs = farthest > 1e-12 * std::abs(mean);
    if (!std::isfinite(mean) || (differs && !(farthest < kFarthest && farthest > 1 / kFarthest))) {
      throw Error(
          ErrorCode::input,
          fmt::format("{} has values {:.3g} from their mean, whose squares double precision does not hold; give "
                      "it in other units, so that they are between {:g} and {:g}",
                      variable_text(names, j), farthest, 1 / kFarthest, kFarthest));
    }
    const double deviation = std::sqrt(squares / (count - 1));
    if (!(deviation > 1e-12 * std::abs(mean))) {
      throw Error(ErrorCode::input,
                  fmt::format("{} is {:.7g} in every sample; what does not vary has no correlation: leave it out",
                              variable_text(names, j), mean));
    }
    estimate.mean(j) = mean;
    estimate.deviation(j) = deviation;
    each([&](double& value) { value = (value - mean) / deviation; });
  }
}

/// The correlations as data of a problem: none on the diagonal, which X need not explain.
DenseObservations observed_pairs(const Moments& moments, double least, Offset& rare) {
  const auto p = static_cast<Index>(moments.count.rows());
  const auto stride = static_cast<std::size_t>(p);
  const double most = moments.count.maxCoeff();
  const bool uneven = moments.count.minCoeff() < most;
  std::vector<Real> value(stride * stride, std::numeric_limits<Real>::quiet_NaN());
  std::vector<Real> weight(uneven ? value.size() : 0, Real(1));
  rare = 0;
  for (Index i = 0; i < p; ++i) {
    for (Index j = i + 1; j < p; ++j) {
      const double correlation = std::clamp(pair_covariance(moments, i, j, least), -1.0, 1.0);
      if (std::isnan(correlation)) {
        ++rare;
        continue;
      }
      for (const std::size_t at : {static_cast<std::size_t>(i) * stride + static_cast<std::size_t>(j),
                                   static_cast<std::size_t>(j) * stride + static_cast<std::size_t>(i)}) {
        value[at] = static_cast<Real>(correlation);
        if (uneven) weight[at] = static_cast<Real>(moments.count(i, j) / most);
      }
    }
  }
  return {p, p, std::move(value), std::move(weight)};
}

/// Some of the samples to judge by, a problem made of the others, and where its last answer was.
struct Fold {
  Problem problem;
  Eigen::MatrixXf held_out;  ///< mean products of the others; below the diagonal
  Eigen::MatrixXf count;
  LowRankMatrix last;
};

/// Parts of the samples in a random order that depends on the seed alone.
std::vector<std::vector<Index>> parts_of(Index samples, int parts, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), Index{0});
  Random random(seed ^ 0x9d2c5680a7b1e3f5ULL);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
  std::vector<std::vector<Index>> out(static_cast<std::size_t>(parts));
  for (std::size_t k = 0; k < order.size(); ++k) out[k % out.size()].push_back(order[k]);
  return out;
}

/// Mean loss between an answer and the covariances of samples that it does not know.
double judge_fold(const Fold& fold, const LowRankMatrix& x) {
  const Eigen::MatrixXd answer = x.dense();
  double loss_sum = 0;
  double count_sum = 0;
  std::visit(
      [&](const auto& loss) {
        for (Eigen::Index j = 0; j < answer.cols(); ++j) {
          for (Eigen::Index i = j + 1; i < answer.rows(); ++i) {
            const double count = fold.count(i, j);
            if (count == 0) continue;
            loss_sum += count * loss.value(answer(i, j), static_cast<double>(fold.held_out(i, j)));
            count_sum += count;
          }
        }
      },
      fold.problem.loss);
  return loss_sum / std::max(count_sum, 1.0);
}

/// Chooses radius and penalty by folds of the samples: paths of radii for one penalty after the other.
class FoldSearch {
 public:
  FoldSearch(const Samples& samples, const Moments& all, const CovarianceOptions& options, const RunHooks& hooks,
             Fit& fit)
      : hooks_(hooks), fit_(fit), error_(1 / std::sqrt(static_cast<double>(samples.count))) {
    const int parts = std::min<int>(options.folds, samples.count);
    for (const std::vector<Index>& part : parts_of(samples.count, parts, fit.run.seed)) {
      const Moments held_out = sample_moments(samples, part);
      Moments rest = all;
      rest -= held_out;
      Offset rare = 0;
      Fold fold{fit.problem, {}, held_out.count.cast<float>(), {}};
      fold.problem.observations = observed_pairs(rest, options.least_pairs, rare);
      fold.held_out = (held_out.product.array() / held_out.count.array().max(1)).matrix().cast<float>();
      if (observed(fold.problem.observations) == 0) continue;  // nearly nothing is there
      folds_.push_back(std::move(fold));
    }
    if (folds_.empty()) {
      too_few_samples(
          fmt::format("radius: in {} samples without a fold of them no pair of variables has the {} samples that a "
                      "covariance needs; give a radius, or more samples",
                      samples.count, options.least_pairs));
    }
  }

  /// Sets path, radius and penalty of the fit. Returns where an answer may begin.
  LowRankMatrix choose(bool with_l1) {
    int since_best = 0;
    for (const double errors :
         with_l1 ? std::vector<double>(kErrors.begin(), kErrors.end()) : std::vector<double>{-1}) {
      if (errors >= 0) set_penalty(lambda_for(errors));
      const std::size_t before = fit_.path_best;
      const bool first = fit_.path.empty();
      if (!follow_radii() || (errors >= 0 && !first && before == fit_.path_best && ++since_best == kWithoutBetter))
        break;
      if (before != fit_.path_best) since_best = 0;
    }
    const RadiusStep& best = fit_.path[fit_.path_best];
    fit_.problem.constraint.radius = best.radius;
    if (with_l1) fit_.problem.penalty = best.lambda > 0 ? Penalty{L1Penalty{best.lambda}} : Penalty{NoPenalty{}};
    return std::move(best_answer_);
  }

 private:
  [[nodiscard]] double lambda_for(double errors) const {
    return std::visit(
        [&](const auto& loss) {
          const double at_error = std::abs(loss.subgradient(0.0, errors * error_));
          const double at_one = kShareOfSlope * errors * std::abs(loss.subgradient(0.0, 1.0));
          return errors == 0 ? 0.0 : std::min(at_error, at_one);
        },
        fit_.problem.loss);
  }
  void set_penalty(double lambda) {
    for (Fold& fold : folds_) fold.problem.penalty = lambda > 0 ? Penalty{L1Penalty{lambda}} : Penalty{NoPenalty{}};
  }

  /// Radii upward until the error has turned. False: somebody wants no more.
  bool follow_radii() {
    const bool first = fit_.path.empty();
    double radius = first ? 0 : std::max(fit_.path[fit_.path_best].radius / kBelowBest, smallest_);
    int since_best = 0;
    double best_here = std::numeric_limits<double>::infinity();
    for (Fold& fold : folds_)
      fold.last = LowRankMatrix(rows(fold.problem.observations), cols(fold.problem.observations));
    for (int step = 0; step < kMostSteps && since_best < kWithoutBetter; ++step) {
      tell(hooks_, fmt::format("setting {}", fit_.path.size() + 1));
      if (!try_radius(radius)) return false;
      const double error = fit_.path.back().validation_error;
      since_best = error < best_here ? 0 : since_best + 1;
      best_here = std::min(best_here, error);
      if (radius == 0) smallest_ = smallest_radius(folds_.front().problem, fit_.run);
      radius = radius == 0 ? smallest_ : radius * kCovarianceRatio;
      if (radius == 0) break;  // nothing is correlated with anything
    }
    return true;
  }

  bool try_radius(double radius) {
    RadiusStep step;
    step.radius = radius;
    const auto* l1 = std::get_if<L1Penalty>(&folds_.front().problem.penalty);
    step.lambda = l1 != nullptr ? l1->lambda : 0;
    bool stopped = false;
    for (Fold& fold : folds_) {
      fold.problem.constraint.radius = radius;
      RunOptions run = after(fit_.run, fit_.path);
      run.iterations = std::min(run.iterations, kTrialIterations);
      run.gap = std::max(run.gap.value_or(kTrialGap), kTrialGap);
      run.keep_dual = false;
      RunHooks from = hooks_;
      from.start = &fold.last;
      Result result = solve(fold.problem, fit_.method, run, from);
      step.validation_error += judge_fold(fold, result.solution) / static_cast<double>(folds_.size());
      step.objective += result.objective / static_cast<double>(folds_.size());
      step.relative_gap = std::max(step.relative_gap, result.relative_gap);
      step.rank = std::max(step.rank, result.solution.terms());
      step.iterations += result.iterations;
      step.passes += result.counters.passes;
      step.seconds += result.seconds;
      fold.last = std::move(result.solution);
      stopped = cancelled(hooks_) || result.status == Status::interrupted;
      if (stopped) break;
    }
    if (stopped && !fit_.path.empty()) return false;  // not judged by all folds
    fit_.path.push_back(step);
    if (fit_.path.size() == 1 || step.validation_error < fit_.path[fit_.path_best].validation_error) {
      fit_.path_best = fit_.path.size() - 1;
      best_answer_ = folds_.front().last;
    }
    for (Fold& fold : folds_) fold.last.scale(kCovarianceRatio);
    const std::optional<double> left = after(fit_.run, fit_.path).seconds;
    return !stopped && !(left && *left == 0);
  }

  const RunHooks& hooks_;
  Fit& fit_;
  double error_;
  double smallest_ = 0;
  std::vector<Fold> folds_;
  LowRankMatrix best_answer_;
};

FitOptions settled(FitOptions options) {
  if (!options.loss) options.loss = losses::Squared{0.5};
  options.prepare = Preparation::Kind::none;
  options.norm_power = 0;
  options.clip = false;
  options.symmetry = Symmetry::semidefinite;
  options = settle(options);
  check_fields(options);
  options.run.keep_dual = true;  // which entries are zero is what it says
  return options;
}

void check_samples(const Samples& samples, const CovarianceOptions& options) {
  if (samples.variables < 2) too_few_samples("one variable has no covariances; give samples of two or more");
  if (samples.count < 2) {
    too_few_samples(fmt::format("{} of {} variables; a covariance needs at least two",
                                samples.count == 1 ? "one sample" : "no samples", samples.variables));
  }
  if (options.fit.chooses_radius() && samples.count < 3) {
    too_few_samples("radius: two samples are too few to hold some out and choose it; give a radius, or more samples");
  }
  if (options.folds < 2) throw Error(ErrorCode::usage, "folds: at least 2", "folds");
  if (options.least_pairs < 2) throw Error(ErrorCode::usage, "least_pairs: at least 2", "least_pairs");
}

/// diag(scale) m diag(scale), as symmetric as m in all bits.
Eigen::MatrixXd rescaled(const Eigen::MatrixXd& m, const Eigen::VectorXd& scale) {
  return m.cwiseProduct(scale * scale.transpose());
}

/// Own variances where X leaves room for them, and exact zeros where the penalty asks for them.
void complete_diagonal(const Fit& fit, CovarianceEstimate& estimate) {
  const bool sparse = std::holds_alternative<L1Penalty>(fit.problem.penalty) && fit.result.dual &&
                      std::isfinite(fit.result.lower_bound);
  if (sparse) {
    SparseEstimate found = sparse_estimate(fit.problem, fit.result);
    estimate.raised = found.raised;
    estimate.scaled = std::move(found.x);
  } else {
    const Eigen::MatrixXd x = fit.result.solution.dense();
    estimate.scaled = 0.5 * (x + x.transpose());
  }
  estimate.scaled.diagonal() = estimate.scaled.diagonal().cwiseMax(1.0);
  estimate.zeros = (estimate.scaled.array() == 0).count() / 2;
}

}  // namespace

std::string_view to_string(SampleEstimate estimate) {
  return estimate == SampleEstimate::trimmed ? "trimmed" : "plain";
}

SampleEstimate parse_sample_estimate(std::string_view text) {
  for (const SampleEstimate estimate : {SampleEstimate::plain, SampleEstimate::trimmed})
    if (to_string(estimate) == text) return estimate;
  throw Error(ErrorCode::usage, fmt::format("estimate: '{}' is not one of plain, trimmed", text), "estimate");
}

Eigen::MatrixXd CovarianceEstimate::covariance() const { return rescaled(scaled, deviation); }

Eigen::MatrixXd CovarianceEstimate::correlation() const {
  const Eigen::VectorXd own = scaled.diagonal().cwiseSqrt().cwiseInverse();
  Eigen::MatrixXd out = rescaled(scaled, own);
  out.diagonal().setOnes();
  return out;
}

Precision precision_of(const CovarianceEstimate& estimate, bool of_correlation) {
  const lapack::OneThread one;
  Eigen::MatrixXd vectors = of_correlation ? estimate.correlation() : estimate.scaled;
  const Eigen::VectorXd values = lapack::eigenvectors(vectors);
  Precision out;
  out.ridge = std::max(0.0, kInvertible * values.maxCoeff() - values.minCoeff());
  const Eigen::VectorXd inverse = (values.array() + out.ridge).inverse();
  const Eigen::MatrixXd product = lapack::product(vectors * inverse.asDiagonal(), vectors, true);
  out.matrix = 0.5 * (product + product.transpose());
  if (of_correlation) return out;
  out.matrix = rescaled(out.matrix, estimate.deviation.cwiseInverse());
  return out;
}

CovarianceFit fit_covariance(Samples samples, const CovarianceOptions& options, const RunHooks& hooks,
                             const Labels& names) {
  const FitOptions chosen = settled(options.fit);
  check_samples(samples, options);
  CovarianceFit out;
  Fit& fit = out.fit;
  PhaseClock clock(fit.profile);
  tell(hooks, "covariances by pairs");
  out.estimate.samples = samples.count;
  out.estimate.missing =
      std::count_if(samples.value.begin(), samples.value.end(), [](double value) { return std::isnan(value); });
  const std::vector<std::size_t> far = far_values(samples);
  out.estimate.far = static_cast<Offset>(far.size());
  if (options.estimate == SampleEstimate::trimmed) {
    for (const std::size_t at : far) samples.value[at] = std::numeric_limits<double>::quiet_NaN();
  }
  standardize(samples, out.estimate, names);

  std::vector<Index> everything(static_cast<std::size_t>(samples.count));
  std::iota(everything.begin(), everything.end(), Index{0});
  const Moments all = sample_moments(samples, everything);
  fit.problem = {observed_pairs(all, options.least_pairs, out.estimate.rare), *chosen.loss, chosen.penalty, {}};
  if (observed(fit.problem.observations) == 0) {
    too_few_samples(fmt::format("no two variables have {} samples in common; give more samples, or ask for fewer",
                                options.least_pairs));
  }
  fit.problem.constraint.symmetry = chosen.symmetry;
  fit.problem.constraint.radius = chosen.radius.value_or(1);
  fit.norm_weights = {*chosen.norm_power, chosen.norm_smoothing};
  fit.method = *chosen.method;
  fit.run = chosen.run;
  clock.end("prepare");

  RunHooks answer = hooks;
  LowRankMatrix start;
  if (chosen.chooses_radius()) {
    start = FoldSearch(samples, all, options, hooks, fit).choose(chosen.choose_l1);
    answer.start = &start;
    clock.end("search", passes_of(fit.path));
  }
  tell(hooks, "solving");
  fit.result = solve(fit.problem, fit.method, after(fit.run, fit.path), answer);
  clock.end(fit.result);
  complete_diagonal(fit, out.estimate);
  return out;
}

}  // namespace tracenorm
