#include "methods/line_search.hpp"

#include <array>
#include <cstddef>
#include <numeric>

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

double smoothed_line_search(Evaluator& evaluator, double width) {
  // The derivative only grows: the last point where it is not positive is as low as the segment gets.
  constexpr std::size_t points = 8;
  constexpr int rounds = 5;
  double low = 0;
  double high = 1;
  std::array<double, points> t{};
  std::array<double, points> derivative{};
  for (int round = 0; round < rounds; ++round) {
    const double step = (high - low) / points;
    for (std::size_t p = 0; p < points; ++p) t[p] = low + step * double(p + 1);
    evaluator.smoothed_derivatives_at(t, width, derivative);
    std::size_t falling = 0;
    while (falling < points && derivative[falling] <= 0) ++falling;
    if (falling == points) return high;
    if (falling > 0) low = t[falling - 1];
    high = t[falling];
  }
  return low;
}

bool smoothed_descent(Evaluator& evaluator, double width) {
  constexpr std::size_t points = 8;
  std::array<double, points> t{};
  std::array<double, points> derivative{};
  const double start[] = {0.0};
  double first = 0;
  evaluator.smoothed_derivatives_at(start, width, {&first, 1});
  for (const int pieces : {8, 64}) {
    double change = 0;  // from above: with the derivative at the far end of each piece
    double last = 0;
    for (int from = 0; from < pieces; from += static_cast<int>(points)) {
      for (std::size_t p = 0; p < points; ++p) t[p] = double(from + static_cast<int>(p) + 1) / pieces;
      evaluator.smoothed_derivatives_at(t, width, derivative);
      change += std::accumulate(derivative.begin(), derivative.end(), 0.0) / pieces;
      last = derivative.back();
    }
    if (change <= 0) return true;
    const double below = change - (last - first) / pieces;  // with the derivatives at the near ends
    if (below > 0) return false;
  }
  return false;
}

}  // namespace tracenorm
