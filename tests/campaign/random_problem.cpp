#include "campaign/random_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace tracenorm::campaign {

namespace {

/// Evenly distributed in the exponent.
double power_of_ten(Random& random, double from, double to) {
  return std::pow(10.0, from + (to - from) * random.uniform());
}

bool chance(Random& random, double probability) { return random.uniform() < probability; }

Loss draw_loss(Random& random, double scale) {
  switch (random.below(8)) {
    case 0:
      return losses::Huber{std::clamp(scale * power_of_ten(random, -2, 2), 1e-6, 1e6)};
    case 1:
      return losses::Quantile{chance(random, 0.3)   ? 1e-4
                              : chance(random, 0.3) ? 1 - 1e-4
                                                    : 0.05 + 0.9 * random.uniform()};
    case 2:
      return losses::EpsilonInsensitive{std::min(1e6, scale * power_of_ten(random, -2, 0.5))};
    case 3:
      return losses::Squared{power_of_ten(random, -2, 2)};
    case 4:
      return losses::Hinge{};
    case 5:
      return losses::Logistic{};
    case 6:
      return losses::Custom{[](double x, double y) { return std::max(std::abs(x - y), 2 * (x - y)); }, "bent", {}};
    default:
      return losses::Absolute{};
  }
}

Index draw_side(Random& random) {
  const double most = chance(random, 0.05) ? 300 : chance(random, 0.3) ? 60 : 15;
  return static_cast<Index>(std::max(1.0, std::floor(std::pow(most, random.uniform()) + 0.5)));
}

std::vector<double> draw_norm_weights(Random& random, Index count, double span) {
  std::vector<double> weight(static_cast<std::size_t>(count));
  for (double& w : weight) w = std::pow(span, random.uniform() - 0.5);
  return weight;
}

/// The data: low rank, noise and gross errors, in units of `scale`, moved by `offset`.
Entries draw_entries(Random& random, Index rows, Index cols, double scale, double offset, bool labels) {
  const auto rank = static_cast<Index>(1 + random.below(3));
  Eigen::MatrixXd u(rows, rank);
  Eigen::MatrixXd v(cols, rank);
  for (double& x : u.reshaped()) x = random.normal();
  for (double& x : v.reshaped()) x = random.normal();
  const double share = chance(random, 0.3) ? 1.0 : 0.1 + 0.8 * random.uniform();
  const double noise = chance(random, 0.3) ? 0.0 : 0.3;
  Entries entries;
  const auto add = [&](Index i, Index j) {
    double value = u.row(i).dot(v.row(j)) + noise * random.normal() + (chance(random, 0.05) ? 20 * random.normal() : 0);
    value = labels ? (value < 0 ? -1.0 : 1.0) : scale * (value + offset);
    entries.row.push_back(i);
    entries.col.push_back(j);
    entries.value.push_back(Real(value));
  };
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (chance(random, share)) add(i, j);
    }
  }
  if (entries.row.empty()) add(rows / 2, cols / 2);
  return entries;
}

double root_mean_square(const Entries& entries) {
  double sum = 0;
  for (const Real y : entries.value) sum += double(y) * double(y);
  return std::sqrt(sum / static_cast<double>(entries.size()));
}

/// One problem in four is about symmetric matrices; it does not touch the numbers that others are made of.
Symmetry draw_symmetry(std::uint64_t seed) {
  Random random(seed + 0x5a5a);
  if (!chance(random, 0.25)) return Symmetry::none;
  return chance(random, 0.5) ? Symmetry::symmetric : Symmetry::semidefinite;
}

/// What is above the diagonal, below it too.
void mirror(Entries& entries, std::vector<Real>& weight) {
  Entries both;
  std::vector<Real> weights;
  const auto add = [&](Offset e, Index i, Index j) {
    both.row.push_back(i);
    both.col.push_back(j);
    both.value.push_back(entries.value[static_cast<std::size_t>(e)]);
    if (!weight.empty()) weights.push_back(weight[static_cast<std::size_t>(e)]);
  };
  for (Offset e = 0; e < entries.size(); ++e) {
    const Index i = entries.row[static_cast<std::size_t>(e)];
    const Index j = entries.col[static_cast<std::size_t>(e)];
    if (i <= j) add(e, i, j);
    if (i < j) add(e, j, i);
  }
  if (both.row.empty()) add(0, 0, 0);
  entries = both;
  weight = weights;
}

}  // namespace

RandomProblem random_problem(std::uint64_t seed) {
  Random random(seed);
  RandomProblem made;
  const Symmetry symmetry = draw_symmetry(seed);
  const Index rows = draw_side(random);
  const Index any = draw_side(random);
  const Index cols = symmetry == Symmetry::none ? any : rows;
  const double scale = chance(random, 0.4) ? 1.0 : power_of_ten(random, -8, 8);
  const double offset = chance(random, 0.6) ? 0.0 : power_of_ten(random, 0, 4);
  const Loss loss = draw_loss(random, scale);
  const bool labels = wants_labels(loss);
  const bool custom = std::holds_alternative<losses::Custom>(loss);
  Entries entries = draw_entries(random, rows, cols, scale, offset, labels);
  std::vector<Real> weight;
  if (chance(random, 0.3)) {
    const double span = power_of_ten(random, 0, 3);
    for (Offset e = 0; e < entries.size(); ++e) weight.push_back(Real(std::pow(span, 2 * random.uniform() - 1)));
  }
  if (symmetry != Symmetry::none) mirror(entries, weight);
  made.raw = {rows, cols, entries};
  made.raw.weight = weight;
  if (!labels && !custom && chance(random, 0.3)) {
    const bool offsets = chance(random, 0.5) && symmetry == Symmetry::none;  // symmetric data have none
    const auto kind = offsets ? Preparation::Kind::both : Preparation::Kind::center;
    made.preparation = fit_preparation(kind, averaging_for(loss), entries, rows, cols);
    prepare(made.preparation, entries);
  }
  const double size = std::max(root_mean_square(entries), 1e-30);
  Penalty penalty = NoPenalty{};
  const double kind = random.uniform();
  // Of the size that competes with a loss of slope 1, or with a square.
  if (kind < 0.2) penalty = L1Penalty{power_of_ten(random, -3, 1)};
  if (kind > 0.75) penalty = ComplementSquaredPenalty{power_of_ten(random, -4, 1) / size};
  const SparseObservations sparse = make_sparse(rows, cols, entries, weight);
  const bool dense = chance(random, 0.4);
  const bool norm_weights =
      chance(random, 0.3) && (dense || !std::holds_alternative<ComplementSquaredPenalty>(penalty));
  const double data_norm = size * std::sqrt(static_cast<double>(entries.size()));
  TraceNormBall ball{chance(random, 0.04) ? 0.0 : data_norm * power_of_ten(random, -3, 3)};
  if (norm_weights) {
    const double span = power_of_ten(random, 0, 4);
    ball.row_weight = draw_norm_weights(random, rows, span);
    ball.col_weight = symmetry == Symmetry::none ? draw_norm_weights(random, cols, span) : ball.row_weight;
  }
  ball.symmetry = symmetry;
  made.problem = {dense ? Observations(make_dense(sparse)) : Observations(sparse), loss, penalty, ball};
  if (symmetry == Symmetry::none && chance(random, 0.3)) {
    Eigen::VectorXd left(rows);
    Eigen::VectorXd right(cols);
    for (double& x : left.reshaped()) x = random.normal();
    for (double& x : right.reshaped()) x = random.normal();
    made.start = LowRankMatrix(left, Eigen::VectorXd::Constant(1, ball.radius * random.uniform()), right);
  }
  const bool may_have_offsets =
      std::holds_alternative<NoPenalty>(penalty) && ball.radius > 0 && symmetry == Symmetry::none;
  if (may_have_offsets && !has_offsets(made.preparation.kind) && chance(random, 0.3)) {
    made.problem.offsets = {power_of_ten(random, -3, 3) / size, power_of_ten(random, -3, 3) / size};
  }
  made.well_scaled = scale == 1 && offset == 0 && weight.empty() && !norm_weights;
  made.name = fmt::format("{} x {}, {} entries{}, {}, {}, radius {:.9g}, scale {:.2g}, offset {:.2g}{}{}{}{}{}", rows,
                          cols, entries.size(), dense ? " (dense)" : "", to_string(loss), to_string(penalty),
                          ball.radius, scale, offset, weight.empty() ? "" : ", weights",
                          norm_weights ? ", norm weights" : "", has_offsets(made.preparation.kind) ? ", offsets" : "",
                          made.problem.offsets ? ", offsets in the model" : "",
                          symmetry == Symmetry::none ? "" : fmt::format(", {}", to_string(symmetry)));
  return made;
}

}  // namespace tracenorm::campaign
