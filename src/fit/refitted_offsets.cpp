#include "fit/refitted_offsets.hpp"

#include <cmath>

namespace tracenorm {

namespace {

constexpr int kRounds = 4;

/// One round for one side: residuals beyond `delta` count as much as one of that size (weighted means, each of which
/// lowers the objective).
void improve(double delta, double ridge, const Entries& entries, const std::vector<Real>& x, double gain,
             const std::vector<Index>& side, const std::vector<Index>& other_side, const std::vector<double>& other,
             std::vector<double>& offsets) {
  std::vector<double> sum(offsets.size(), 0.0);
  std::vector<double> say(offsets.size(), 2 * ridge);
  for (std::size_t e = 0; e < side.size(); ++e) {
    const auto i = static_cast<std::size_t>(side[e]);
    const double rest = double(entries.value[e]) - gain * double(x[e]) - other[static_cast<std::size_t>(other_side[e])];
    const double size = std::abs(rest - offsets[i]);
    const double weight = size > delta ? delta / size : 1.0;
    sum[i] += weight * rest;
    say[i] += weight;
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = sum[i] / say[i];
}

}  // namespace

void refit_offsets(const Loss& loss, const OffsetRidge& ridge, const Entries& entries, const std::vector<Real>& x,
                   double gain, SideOffsets& offsets) {
  double delta = 1;
  if (const auto* huber = std::get_if<losses::Huber>(&loss)) delta = huber->delta;
  if (std::holds_alternative<losses::Squared>(loss)) delta = kInfinity;
  for (int round = 0; round < kRounds; ++round) {
    improve(delta, ridge.row, entries, x, gain, entries.row, entries.col, offsets.col, offsets.row);
    improve(delta, ridge.col, entries, x, gain, entries.col, entries.row, offsets.row, offsets.col);
  }
}

}  // namespace tracenorm
