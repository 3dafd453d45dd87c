// Shifts of kinks on the CPU: multipliers of an augmented Lagrangian, entry by entry.
#include <algorithm>
#include <type_traits>

#include "cpu/passes.hpp"
#include "model/kink_shift.hpp"

namespace tracenorm::cpu {

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
    for_each_shard([&](int s) {
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
            const auto at = static_cast<Offset>(e);
            const auto y = double(data(at, at + 1).datum(0));
            if (y != y) return;
            const double z = double(x_[e]) + width * double(loss_shift_[e]);
            loss_shift_[e] = Real(kink_shift(loss, z, width, y) / width);
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
