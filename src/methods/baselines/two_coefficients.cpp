#include "methods/baselines/two_coefficients.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "model/entry_functions.hpp"

namespace tracenorm::baselines {

double weighted_median(std::vector<WeightedValue>& values) {
  double total = 0;
  for (const WeightedValue& v : values) total += v.weight;
  // Quickselect on the cumulative weight: each half that is left out is summed once.
  auto first = values.begin();
  auto last = values.end();
  double before = 0;  // weight of all that lies below [first, last)
  const auto less = [](const WeightedValue& p, const WeightedValue& q) { return p.value < q.value; };
  while (last - first > 1) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, less);
    double below = before;
    for (auto it = first; it != middle; ++it) below += it->weight;
    if (2 * below >= total) {
      last = middle;
    } else {
      before = below;
      first = middle;
    }
  }
  return first->value;
}

TwoCoefficients::TwoCoefficients(const Observed& data, const Problem& problem)
    : data_(data),
      problem_(problem),
      lambda_(penalty_lambda(problem.penalty)),
      use_median_(std::holds_alternative<losses::Absolute>(problem.loss) && lambda_ == 0) {}

double TwoCoefficients::value(Coefficients at) const {
  double square = 0;
  const auto on_pattern = [&](const auto& loss) {
    return data_.sum([&](Offset e) {
      const double entry = at.a * (*x_)[static_cast<std::size_t>(e)] - at.b * (*g_)[static_cast<std::size_t>(e)];
      return data_.weight(e) * double(loss.value(entry, data_.value(e))) - lambda_ * entry * entry;
    });
  };
  const double sum = std::visit(on_pattern, problem_.loss);
  if (lambda_ > 0) square = at.a * at.a * gram_.xx - 2 * at.a * at.b * gram_.xg + at.b * at.b * gram_.gg;
  return sum + lambda_ * square;
}

Coefficients TwoCoefficients::median(Coefficients from, bool in_a) {
  // sum w |a x - (y + b g)| = sum w |x| |a - (y + b g) / x|; the same in b with -g and y - a x.
  scratch_.clear();
  for (Offset e = 0; e < data_.entries(); ++e) {
    const double x = (*x_)[static_cast<std::size_t>(e)];
    const double g = (*g_)[static_cast<std::size_t>(e)];
    const double factor = in_a ? x : -g;
    if (factor == 0) continue;
    const double rest = data_.value(e) - (in_a ? -from.b * g : from.a * x);
    scratch_.push_back({rest / factor, data_.weight(e) * std::abs(factor)});
  }
  if (scratch_.empty()) return from;
  (in_a ? from.a : from.b) = weighted_median(scratch_);
  return from;
}

Coefficients TwoCoefficients::golden(Coefficients from, bool in_a, double first_step) const {
  const auto at = [&](double t) {
    Coefficients moved = from;
    (in_a ? moved.a : moved.b) += t;
    return moved;
  };
  const auto phi = [&](double t) { return value(at(t)); };
  // Bracket: walk downhill from zero, doubling the stride, until it rises.
  const double here = phi(0);
  double step = first_step;
  if (phi(step) >= here) step = -step;
  double low = -step;
  double middle = 0;
  double high = step;
  double at_high = phi(high);
  double at_middle = here;
  constexpr int most_doublings = 60;
  for (int i = 0; i < most_doublings && at_high < at_middle; ++i) {
    low = middle;
    middle = high;
    at_middle = at_high;
    high += step *= 2;
    at_high = phi(high);
  }
  if (low > high) std::swap(low, high);
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  double at_left = phi(left);
  double at_right = phi(right);
  constexpr int sections = 40;  // shrink the bracket by 4e-9
  for (int i = 0; i < sections; ++i) {
    if (at_left <= at_right) {
      high = right;
      right = std::exchange(left, high - ratio * (high - low));
      at_right = std::exchange(at_left, phi(left));
    } else {
      low = left;
      left = std::exchange(right, low + ratio * (high - low));
      at_left = std::exchange(at_right, phi(right));
    }
  }
  const double best = at_left <= at_right ? left : right;
  return std::min(at_left, at_right) < here ? at(best) : from;
}

Coefficients TwoCoefficients::along(Coefficients from, bool in_a, double first_step) {
  return use_median_ ? median(from, in_a) : golden(from, in_a, first_step);
}

Coefficients TwoCoefficients::fit(const std::vector<double>& x, const std::vector<double>& g, const GramEntries& gram) {
  x_ = &x;
  g_ = &g;
  gram_ = gram;
  constexpr int sweeps = 3;
  Coefficients at;
  // A first stride in the units of the data: an entry of b G of about the size of a datum.
  const double size_y = data_.sum([&](Offset e) { return std::abs(data_.value(e)); });
  const double size_g = data_.sum([&](Offset e) { return std::abs(g[static_cast<std::size_t>(e)]); });
  const double stride_b = size_g > 0 && size_y > 0 ? 0.1 * size_y / size_g : 1.0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    at = along(at, false, stride_b);
    if (gram.xx > 0) at = along(at, true, 0.1);
  }
  return at;
}

}  // namespace tracenorm::baselines
