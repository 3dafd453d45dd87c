// Shifts of kinks on the CPU: multipliers of an augmented Lagrangian, entry by entry.
#include <algorithm>
#include <type_traits>

#include "cpu/passes.hpp"

namespace tracenorm::cpu {

namespace {

/// z - p, at most a width, where p is the point nearest to z that has the chord's slope m at z as a subgradient: the
/// kink, if m lies within its jump. Those points are [f*'(m-), f*'(m+)]; at an end of the slopes only the inner one
/// counts, so that an entry beyond its kink stays as far from it as a width reaches.
template <class L>
double shift_of(const L& loss, double z, double width, double y) {
  const Interval slopes = loss.slopes(y);
  const double m = slopes.clamp(double(loss.chord(z, width, y)));
  const double h = 1e-3 * std::min(2.0, slopes.upper - slopes.lower);
  const auto conjugate_slope = [&](double from, double to) {
    return (loss.conjugate(to, y) - loss.conjugate(from, y)) / (to - from);
  };
  const bool below = m - h >= slopes.lower;
  const bool above = m + h <= slopes.upper;
  const double left = below ? conjugate_slope(m - h, m) : conjugate_slope(m, m + h);
  const double right = above ? conjugate_slope(m, m + h) : conjugate_slope(m - h, m);
  return std::clamp(z - std::clamp(z, std::min(left, right), std::max(left, right)), -width, width);
}

}  // namespace

void CpuStore::shift(kernels::EntryRange& r, Offset from, double width, ShiftedPlaces& places) const {
  const auto place = [&](const RealArray& shift, RealArray& to) -> const Real* {
    if (shift.empty()) return nullptr;
    to.resize(static_cast<std::size_t>(r.count));
    const Real* by = shift.data() + from;
    for (Offset e = 0; e < r.count; ++e) to[static_cast<std::size_t>(e)] = r.x[e] + Real(width) * by[e];
    return to.data();
  };
  r.loss_x = place(loss_shift_, places.loss);
  r.penalty_x = place(penalty_shift_, places.penalty);
}

void CpuStore::shift_kinks(double width) {
  if (!(width > 0)) return;
  const auto for_entries = [&](auto&& work) {
    execution_.for_each_shard(shards(), [&](int s) {
      const auto end = static_cast<std::size_t>(shard_begin(s + 1));
      for (auto e = static_cast<std::size_t>(shard_begin(s)); e < end; ++e) work(e);
    });
  };
  std::visit(
      [&](const auto& loss) {
        using L = std::decay_t<decltype(loss)>;
        if constexpr (L::has_kink && L::cheap_conjugate) {
          if (loss_shift_.empty()) loss_shift_.assign(x_.size(), Real(0));
          for_entries([&](std::size_t e) {
            const double y = double(value_[e]);
            if (y != y) return;
            const double z = double(x_[e]) + width * double(loss_shift_[e]);
            loss_shift_[e] = Real(shift_of(loss, z, width, y) / width);
          });
        }
      },
      loss_);
  if (!l1_) return;
  if (penalty_shift_.empty()) penalty_shift_.assign(x_.size(), Real(0));
  for_entries([&](std::size_t e) {
    penalty_shift_[e] = std::clamp(x_[e] / Real(width) + penalty_shift_[e], Real(-1), Real(1));
  });
}

}  // namespace tracenorm::cpu
