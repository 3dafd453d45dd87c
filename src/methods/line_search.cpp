#include "methods/line_search.hpp"

#include <array>
#include <cstddef>

namespace tracenorm {

double line_search(Evaluator& evaluator) {
  // Each pass looks at eight points; the sign of the derivative tells between which two the minimum lies, so the
  // bracket shrinks ninefold. Values decide at the end, because a kink's one-sided slopes can disagree about its own
  // sign.
  constexpr std::size_t points = 8;
  constexpr int rounds = 5;
  double low = 0;
  double high = 1;
  double best_t = 0;
  double best = 0;
  bool have_best = false;
  std::array<double, points> t{};
  std::array<SegmentPoint, points> f{};
  for (int round = 0; round < rounds; ++round) {
    const double width = high - low;
    // The first round includes both ends, the later ones only the inside.
    for (std::size_t p = 0; p < points; ++p) {
      t[p] = round == 0 ? double(p) / (points - 1) : low + width * double(p + 1) / (points + 1);
    }
    evaluator.objective_at(t, f);
    double next_low = low;
    double next_high = high;
    for (std::size_t p = 0; p < points; ++p) {
      if (!have_best || f[p].value < best) {
        best = f[p].value;
        best_t = t[p];
        have_best = true;
      }
      if (f[p].derivative < 0) next_low = t[p];
    }
    for (std::size_t p = points; p-- > 0;) {
      if (f[p].derivative > 0 && t[p] > next_low) next_high = t[p];
    }
    low = next_low;
    high = next_high;
  }
  return best_t;
}

}  // namespace tracenorm
