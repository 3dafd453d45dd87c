// RLRMC: L. Cambier, P.-A. Absil, "Robust low-rank matrix completion by Riemannian optimization", SIAM J. Sci. Comput.
// 38(5), 2016.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "methods/baselines/block_svd.hpp"
#include "methods/baselines/conjugate_gradient.hpp"
#include "methods/methods.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm::methods {

namespace {

using namespace baselines;

void check_for_rlrmc(const Problem& problem) {
  if (!std::holds_alternative<losses::Absolute>(problem.loss)) {
    throw Error(ErrorCode::usage,
                fmt::format("rlrmc: loss {}; it is made for the absolute loss alone", to_string(problem.loss)));
  }
  if (std::holds_alternative<L1Penalty>(problem.penalty) && penalty_lambda(problem.penalty) > 0) {
    throw Error(ErrorCode::usage, "rlrmc: an l1 penalty; it knows the penalties none and complement-squared");
  }
}

/// The leading r singular triplets of the data with zeros where nothing is observed.
FixedRankPoint truncated_data(const Observed& data, Index rank, std::uint64_t seed) {
  constexpr Index extra = 10;        // columns beyond the rank: convergence follows the gap to the last of them
  constexpr double accuracy = 1e-4;  // of the triplets, relative to the largest value; a start need not be better
  constexpr int rounds = 20;
  std::vector<double> y(static_cast<std::size_t>(data.entries()));
  for (Offset e = 0; e < data.entries(); ++e) y[static_cast<std::size_t>(e)] = data.value(e);
  Random random(seed);
  Triplets t;
  t.right = random_block(data.cols(), std::min(rank + extra, std::min(data.rows(), data.cols())), random);
  subspace_iteration([&](const Eigen::MatrixXd& block, Eigen::MatrixXd& out) { data.apply(y, block, out); },
                     [&](const Eigen::MatrixXd& block, Eigen::MatrixXd& out) { data.apply_transpose(y, block, out); },
                     [&](const Eigen::VectorXd& values, const Eigen::VectorXd& errors) {
                       return errors.head(rank).maxCoeff() <= accuracy * values[0];
                     },
                     rounds, t);
  return {t.left.leftCols(rank), t.values.head(rank), t.right.leftCols(rank)};
}

/// The unit of the smoothing: the median |datum|, because gross errors, which this method is for, inflate the mean
/// (with 10 % of them twenty times too large, stages that start from the mean end in a wrong minimum). Mostly zero data
/// fall back to the mean.
double data_unit(const Observed& data) {
  std::vector<double> magnitude(static_cast<std::size_t>(data.entries()));
  for (Offset e = 0; e < data.entries(); ++e) magnitude[static_cast<std::size_t>(e)] = std::abs(data.value(e));
  const auto middle = magnitude.begin() + static_cast<std::ptrdiff_t>(magnitude.size() / 2);
  std::nth_element(magnitude.begin(), middle, magnitude.end());
  if (*middle > 0) return *middle;
  const double mean = std::accumulate(magnitude.begin(), magnitude.end(), 0.0) / static_cast<double>(magnitude.size());
  return mean > 0 ? mean : 1.0;
}

/// Puts a point into the evaluator and gives its objective without smoothing.
double report(const FixedRankPoint& x, Evaluator& f) {
  f.restart(LowRankMatrix(x.u, x.s, x.v));
  return f.objective(f.iterate());
}

}  // namespace

/// Stages of conjugate gradients on f_d, each from where the last one ended, with d shrinking.
void run(const Rlrmc& options, const Problem& problem, Evaluator& f, Session& session) {
  check_for_rlrmc(problem);
  const Index rank = checked_rank(Rlrmc::name, options.rank, f.rows(), f.cols());
  const Observed data(problem.observations, f.execution());
  SmoothedAbsolute cost(data, penalty_lambda(problem.penalty));
  const double scale = data_unit(data);
  double d = options.smoothing * scale;
  double error = std::numeric_limits<double>::infinity();
  int stage = 0;
  int i = 0;
  std::optional<ConjugateGradient> search;
  const auto state = [&](Exchange kept) {
    kept.number("stage", stage);
    kept.number("step", i);
    kept.number("smoothing", d);
    kept.number("error", error);
    FixedRankPoint x = search ? search->point() : FixedRankPoint{};
    kept.matrix("u", x.u);
    kept.matrix("s", x.s);
    kept.matrix("v", x.v);
    if (kept.restores()) search.emplace(cost, d, std::move(x));
    search->exchange(kept.part("direction"));
  };
  int k = session.begin(state);
  if (!search) search.emplace(cost, d, truncated_data(data, rank, session.options().seed));
  while (true) {
    for (; i < options.inner; ++i) {
      if (session.pauses(k, state)) return;
      const double step = search->look();
      if (step == 0) break;  // nothing lower along the gradient: the stage is solved to rounding
      const double objective = report(search->point(), f);
      if (!session.proceed({.k = k, .objective = objective, .width = d, .step = step}, kNoBound)) return;
      search->advance();
      ++k;
    }
    constexpr double settled = 1e-8;  // change of the mean error between stages, in units of the data
    if (std::abs(error - search->mean_error()) <= settled * scale) break;
    error = search->mean_error();
    if (++stage >= options.stages) break;
    i = 0;
    d *= options.shrink;
    FixedRankPoint x = search->point();
    search.emplace(cost, d, std::move(x));
  }
  session.proceed({.k = k, .objective = report(search->point(), f), .width = d}, kNoBound, true);
}

}  // namespace tracenorm::methods
