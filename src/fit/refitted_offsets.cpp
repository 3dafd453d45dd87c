#include "fit/refitted_offsets.hpp"

#include <cmath>
#include <vector>

#include "model/side_sums.hpp"

namespace tracenorm {

namespace {

constexpr int kRounds = 4;

/// Residuals beyond `delta` count as much as one of that size (weighted means, each of which lowers the objective).
SideSum weighed(double rest, double offset, double delta) {
  const double size = std::abs(rest - offset);
  const double weight = size > delta ? delta / size : 1.0;
  return {weight * rest, weight};
}

void renew(const std::vector<SideSum>& sums, double ridge, std::vector<double>& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = sums[i].sum / (2 * ridge + sums[i].weight);
}

}  // namespace

void refit_offsets(const Loss& loss, const OffsetRidge& ridge, const SparseObservations& data,
                   const std::vector<Real>& x, SideOffsets& offsets, const Execution& execution) {
  double delta = 1;
  if (const auto* huber = std::get_if<losses::Huber>(&loss)) delta = huber->delta;
  if (std::holds_alternative<losses::Squared>(loss)) delta = kInfinity;
  const Real* value = data.value.data();
  double* row = offsets.row.data();
  double* col = offsets.col.data();
  visit_rows(data, [&]<class Column>(const EntriesByRow<Column>& entries) {
    SideSums<Column> sides(entries, execution);
    std::vector<SideSum> sums;
    const auto rest = [&](std::size_t e, double other) { return double(value[e]) - double(x[e]) - other; };
    for (int round = 0; round < kRounds; ++round) {
      sides.by_rows([&](Index i, Index j, std::size_t e) { return weighed(rest(e, col[j]), row[i], delta); }, sums);
      renew(sums, ridge.row, offsets.row);
      sides.by_cols([&](Index i, Index j, std::size_t e) { return weighed(rest(e, row[i]), col[j], delta); }, sums);
      renew(sums, ridge.col, offsets.col);
    }
  });
}

}  // namespace tracenorm
