#include <algorithm>

#include "tracenorm/losses/custom.hpp"

namespace tracenorm::losses {

namespace {

/// The smallest half-width at which a difference quotient still has about eight good digits.
double least_width(double x, double w) { return std::max(w, 1e-8 * std::max(1.0, std::abs(x))); }

}  // namespace

double Custom::chord(double x, double w, double y) const {
  const double h = least_width(x, w);
  return slope_range.clamp((function(x + h, y) - function(x - h, y)) / (2 * h));
}

double Custom::subgradient(double x, double y) const { return chord(x, 0.0, y); }

double Custom::conjugate(double s, double y) const {
  // g(x) = f(x, y) - s x is convex; minus its minimum is the conjugate. Bracket the minimum by doubling, then golden
  // section.
  s = slope_range.clamp(s);
  const auto g = [&](double x) { return function(x, y) - s * x; };
  double step = 1;
  double middle = 0;
  double at_middle = g(middle);
  constexpr double kFar = 1e12;
  for (const double direction : {1.0, -1.0}) {
    step = 1;
    while (g(middle + direction * step) < at_middle) {
      middle += direction * step;
      at_middle = g(middle);
      step *= 2;
      if (std::abs(middle) > kFar) return kInfinity;  // still falling: the slope is outside the function's slopes
    }
  }
  double low = middle - step;
  double high = middle + step;
  while (g(low) < at_middle) low -= (step *= 2);
  while (g(high) < at_middle) high += (step *= 2);
  constexpr double kGolden = 0.6180339887498949;
  double a = high - kGolden * (high - low);
  double b = low + kGolden * (high - low);
  double ga = g(a);
  double gb = g(b);
  double best = std::min({at_middle, ga, gb});
  for (int i = 0; i < 100 && high - low > 1e-12 * std::max(1.0, std::abs(low)); ++i) {
    if (ga <= gb) {
      high = b;
      b = a;
      gb = ga;
      a = high - kGolden * (high - low);
      ga = g(a);
    } else {
      low = a;
      a = b;
      ga = gb;
      b = low + kGolden * (high - low);
      gb = g(b);
    }
    best = std::min({best, ga, gb});
  }
  // Every value of g bounds the minimum from above; what is left below the best one is bounded by convexity: on the
  // final bracket g lies above the lines through its ends with the slopes seen outside.
  const double width = high - low;
  const double slope = std::max(std::abs(chord(low, width, y) - s), std::abs(chord(high, width, y) - s));
  return -(best - width * slope);
}

}  // namespace tracenorm::losses
