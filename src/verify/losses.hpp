// The losses once more, from their definitions: an upper bound of the value on a range of predictions, the slopes that
// the conjugate is finite at, and an upper bound of the conjugate there. Nothing of it is shared with the solver's.
//
// Each is about g -> sup over x of (g x - weight * loss(x, y)).
#pragma once

#include <variant>

#include "tracenorm/error.hpp"
#include "tracenorm/loss.hpp"
#include "verify/rounding.hpp"

namespace tracenorm::rigorous {

/// A closed interval of slopes; its ends are rounded inwards.
struct SlopeDomain {
  double lower;
  double upper;
  [[nodiscard]] double nearest(double slope) const { return std::min(std::max(slope, lower), upper); }
};

inline SlopeDomain symmetric(double bound) { return {-bound, bound}; }

struct AbsoluteLoss {  // |x - y|
  [[nodiscard]] double value(const Range& x, double y) const { return absolute(x - y).upper; }
  [[nodiscard]] SlopeDomain slopes(double, double weight) const { return symmetric(weight); }
  [[nodiscard]] double conjugate(double g, double y, double) const { return product_above(g, y); }
  [[nodiscard]] double slope_at_zero(double y, double weight) const { return y > 0 ? -weight : y < 0 ? weight : 0; }
};

struct SquaredLoss {  // factor (x - y)^2
  double factor;
  [[nodiscard]] double value(const Range& x, double y) const {
    const Range e = absolute(x - y);
    return (Range(factor) * e * e).upper;
  }
  [[nodiscard]] SlopeDomain slopes(double, double) const { return symmetric(std::numeric_limits<double>::max()); }
  [[nodiscard]] double conjugate(double g, double y, double weight) const {
    return (Range(g) * y + Range(g) * g / (Range(4 * factor) * weight)).upper;
  }
  [[nodiscard]] double slope_at_zero(double y, double weight) const { return -2 * factor * weight * y; }
};

struct HuberLoss {  // e^2 / 2 up to |e| = delta, delta |e| - delta^2 / 2 beyond, e = x - y
  double delta;
  [[nodiscard]] double value(const Range& x, double y) const {
    const Range e = absolute(x - y).upper;
    if (e.upper <= delta) return (e * e * 0.5).upper;
    return (Range(delta) * (e - delta / 2)).upper;
  }
  [[nodiscard]] SlopeDomain slopes(double, double weight) const {
    return symmetric(tight_product_below(weight, delta));
  }
  [[nodiscard]] double conjugate(double g, double y, double weight) const {
    return (Range(g) * y + Range(g) * g / (2 * weight)).upper;
  }
  [[nodiscard]] double slope_at_zero(double y, double weight) const {
    return weight * std::min(std::max(-y, -delta), delta);
  }
};

struct QuantileLoss {  // level (y - x) where x is below y, (1 - level) (x - y) where it is above
  double level;
  [[nodiscard]] double value(const Range& x, double y) const {
    return std::max((Range(level) * (y - x)).upper, ((Range(1) - level) * (x - y)).upper);
  }
  [[nodiscard]] SlopeDomain slopes(double, double weight) const {
    return {-tight_product_below(weight, level), tight_product_below(weight, tight_sum_below(1, -level))};
  }
  [[nodiscard]] double conjugate(double g, double y, double) const { return product_above(g, y); }
  [[nodiscard]] double slope_at_zero(double y, double weight) const {
    return y > 0 ? -weight * level : y < 0 ? weight * (1 - level) : 0;
  }
};

struct EpsilonInsensitiveLoss {  // max(0, |x - y| - epsilon)
  double epsilon;
  [[nodiscard]] double value(const Range& x, double y) const {
    const double excess = (absolute(x - y) - epsilon).upper;
    return excess <= 0 ? 0 : excess;  // a NaN stays one
  }
  [[nodiscard]] SlopeDomain slopes(double, double weight) const { return symmetric(weight); }
  [[nodiscard]] double conjugate(double g, double y, double) const {
    return (Range(g) * y + Range(epsilon) * std::abs(g)).upper;
  }
  [[nodiscard]] double slope_at_zero(double y, double weight) const {
    return y > epsilon ? -weight : y < -epsilon ? weight : 0;
  }
};

struct HingeLoss {  // max(0, 1 - y x), y = +1 or -1
  [[nodiscard]] double value(const Range& x, double y) const {
    const double margin = (1 - Range(y) * x).upper;
    return margin <= 0 ? 0 : margin;
  }
  [[nodiscard]] SlopeDomain slopes(double y, double weight) const {
    return y > 0 ? SlopeDomain{-weight, 0} : SlopeDomain{0, weight};
  }
  [[nodiscard]] double conjugate(double g, double y, double) const { return product_above(g, y); }
  [[nodiscard]] double slope_at_zero(double y, double weight) const { return -y * weight; }
};

struct LogisticLoss {  // log(1 + exp(-y x)), y = +1 or -1
  [[nodiscard]] double value(const Range& x, double y) const {
    const double z = (Range(y) * x).lower;  // the loss falls with y x
    const double tail = std::log1p(std::exp(-std::abs(z)));
    return above((z > 0 ? 0 : -z) + above(tail + 4 * kFunctionUnits * kUnit * tail));
  }
  [[nodiscard]] SlopeDomain slopes(double y, double weight) const {
    return y > 0 ? SlopeDomain{-weight, 0} : SlopeDomain{0, weight};
  }
  /// weight (p log p + (1 - p) log(1 - p)) with p = |g| / weight or, which is the same, 1 - |g| / weight: the smaller
  /// one.
  [[nodiscard]] double conjugate(double g, double, double weight) const {
    const double size = std::abs(g);
    const Range numerator = size <= weight / 2 ? Range(size) : Range(weight) - size;
    if (numerator.upper <= 0) return 0;
    Range p = numerator / weight;
    p = {std::max(p.lower, std::numeric_limits<double>::min()), std::min(p.upper, 0.75)};  // at most a half, rounded
    return (Range(weight) * (p * logarithm(p) + (Range(1) - p) * logarithm_of_rest(p))).upper;
  }
  [[nodiscard]] double slope_at_zero(double y, double weight) const { return -y * weight / 2; }
};

/// work(the loss in one of the forms above).
template <class Work>
decltype(auto) with_loss(const Loss& loss, Work&& work) {
  if (const auto* squared = std::get_if<losses::Squared>(&loss)) return work(SquaredLoss{squared->weight});
  if (const auto* huber = std::get_if<losses::Huber>(&loss)) return work(HuberLoss{huber->delta});
  if (const auto* quantile = std::get_if<losses::Quantile>(&loss)) return work(QuantileLoss{quantile->level});
  if (const auto* zone = std::get_if<losses::EpsilonInsensitive>(&loss)) {
    return work(EpsilonInsensitiveLoss{zone->epsilon});
  }
  if (std::holds_alternative<losses::Hinge>(loss)) return work(HingeLoss{});
  if (std::holds_alternative<losses::Logistic>(loss)) return work(LogisticLoss{});
  if (std::holds_alternative<losses::Absolute>(loss)) return work(AbsoluteLoss{});
  throw Error(ErrorCode::input,
              "a loss that is a function of one's own cannot be verified: a certificate does not hold its formula");
}

}  // namespace tracenorm::rigorous
