#include "fit/share_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fit/phase.hpp"
#include "fit/row_share.hpp"
#include "fit/rows_of_columns.hpp"
#include "fit/sampling.hpp"
#include "fit/split.hpp"
#include "methods/cancelled.hpp"
#include "model/side_sums.hpp"

namespace tracenorm {

namespace {

/// Fewer rows are no picture of all of them, nor is a share in which one row outweighs the others.
constexpr Index kFewestRows = 100;

/// What the bound costs where the answer is: -<slopes, X> / radius. Where it does not bind that is about zero.
double price_of(const PartOfData& part, const Settings& settings) {
  if (!(settings.radius > 0)) return 0;
  const SparseObservations& data = part.data();
  std::vector<Real> x;
  const std::vector<double> values(settings.x.values().begin(), settings.x.values().end());
  sample(settings.x, values, data, part.execution(), x);
  const auto sum = std::visit(
      [&](const auto& loss) {
        return visit_rows(data, [&]<class Column>(const EntriesByRow<Column>& entries) {
          return SideSums<Column>(entries, part.execution())
              .template total<1>([&](Index i, Index j, std::size_t e, Sums<1>& all) {
                const double base = settings.offsets.row[static_cast<std::size_t>(i)] +
                                    settings.offsets.col[static_cast<std::size_t>(j)];
                const double weight = data.weight.empty() ? 1.0 : double(data.weight[e]);
                all.of[0] -=
                    weight * double(loss.subgradient(base + double(x[e]), double(data.value[e]))) * double(x[e]);
              });
        });
      },
      settings.loss);
  return std::max(0.0, sum.of[0] / settings.radius);
}

struct PartAndHeld {
  PartOfData part;
  Entries held_out;
};

PartAndHeld part_of(const FitOptions& options, Index cols, RowShare share, const Execution& execution) {
  Split split = split_entries(std::move(share.entries), {1 - kChoosingShare, kChoosingShare, 0}, options.run.seed,
                              std::move(share.weight), options.run.threads);
  return {PartOfData(options, make_sparse(share.rows, cols, split.train, split.train_weight, options.run.threads),
                     execution),
          std::move(split.validation)};
}

Eigen::VectorXd vector_of(const std::vector<double>& weight, Index size) {
  if (weight.empty()) return Eigen::VectorXd::Ones(size);
  return Eigen::Map<const Eigen::VectorXd>(weight.data(), static_cast<Eigen::Index>(weight.size()));
}

/// What a search on a share of the rows found.
struct ShareFindings {
  FoundSettings found;  ///< in units of the share
  SearchedShare size;
  double price = 0;       ///< multiplier of the bound on the trace norm at the answer
  Preparation units;      ///< of the share, without offsets
  Eigen::MatrixXd right;  ///< of Z = diag(p) X diag(q) = left right' with columns of left and right equally long,
                          ///< divided by q
};

ShareFindings search_share(const FitOptions& options, RowShare share, Index cols, const Execution& execution,
                           const RunHooks& hooks) {
  ShareFindings findings;
  findings.size = {.rows = share.rows, .entries = share.entries.size(), .wanted = options.search_entries};
  const auto [part, held_out] = part_of(options, cols, std::move(share), execution);
  findings.units = part.units();
  findings.found = search_settings(options, part, held_out, hooks);
  findings.size.settings = static_cast<int>(findings.found.steps.size());
  Settings& settings = findings.found.settings;
  findings.price = price_of(part, settings);
  const TraceNormBall ball = part.joint(settings.loss, 1).constraint;
  const Eigen::VectorXd q = vector_of(ball.col_weight, cols);
  LowRankMatrix& z = settings.x;
  z.scale(vector_of(ball.row_weight, findings.size.rows), q);
  z.compress(LowRankMatrix::kRounding, execution.threads());
  findings.right = q.cwiseInverse().asDiagonal() * z.right() * z.values().cwiseSqrt().asDiagonal();
  z = {};
  return findings;
}

/// The settings found, for all rows. Z'Z is a sum over the rows, so that its square root, whose trace is the norm,
/// grows like the root of their number.
Settings carry_over(ShareFindings& findings, const PartOfData& all) {
  Settings settings = std::move(findings.found.settings);
  const Preparation& units = all.units();
  const SparsePattern& pattern = all.data().pattern;
  const double scale = findings.units.scale / units.scale;
  const double grown = scale * std::sqrt(static_cast<double>(pattern.rows()) / static_cast<double>(findings.size.rows));
  settings.radius *= grown;
  for (RadiusStep& step : findings.found.steps) step.radius *= grown;
  settings.offsets.row = all.start().row;
  for (double& offset : settings.offsets.col)
    offset = offset * scale + (findings.units.offset - units.offset) / units.scale;
  if (settings.offsets_before) settings.offsets = all.start();
  const TraceNormBall ball = all.joint(settings.loss, 1).constraint;
  std::vector<double> price(static_cast<std::size_t>(pattern.rows()), findings.price);
  for (std::size_t i = 0; i < ball.row_weight.size(); ++i) price[i] *= ball.row_weight[i] * ball.row_weight[i];
  const ColumnSide columns{findings.right, settings.offsets.col, all.ridge().row, !settings.offsets_before};
  Eigen::MatrixXd left =
      rows_given_columns(settings.loss, all.data(), columns, price, settings.offsets.row, all.execution());
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(left.cols());
  settings.x = LowRankMatrix(std::move(left), ones, std::move(findings.right));
  settings.x.compress(LowRankMatrix::kRounding, all.execution().threads());
  return settings;
}

}  // namespace

LargeFindings search_large(const FitOptions& options, const PartOfData& part, const Entries& held_out,
                           const RunHooks& hooks) {
  const Index all_rows = part.data().pattern.rows();
  RowShare drawn = draw_rows(part.raw(), options.search_entries, options.run.seed);
  if (drawn.rows < kFewestRows || drawn.rows == all_rows || drawn.entries.size() / 2 > options.search_entries) {
    return {search_settings(options, part, held_out, hooks), {}};
  }
  tell(hooks, "searching on a share of the rows");
  ShareFindings share = search_share(options, std::move(drawn), part.data().pattern.cols(), part.execution(), hooks);
  tell(hooks, "from the share to all rows");
  Settings settings = carry_over(share, part);
  std::vector<RadiusStep> steps = std::move(share.found.steps);
  LargeFindings large{{}, share.size};
  if (settings.radius == 0 || cancelled(hooks)) {
    large.found = {std::move(settings), std::move(steps), share.found.best};
    return large;
  }
  FitOptions left = options;
  left.run = after(options.run, steps);
  large.found = enlarge_radius(left, part, std::move(settings), held_out, hooks);
  large.found.best = large.found.steps.empty() ? share.found.best : steps.size() + large.found.best;
  steps.insert(steps.end(), large.found.steps.begin(), large.found.steps.end());
  large.found.steps = std::move(steps);
  return large;
}

}  // namespace tracenorm
