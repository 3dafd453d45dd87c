#include "model/entry_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/precise_sum.hpp"
#include "model/entry_slopes.hpp"

namespace tracenorm {

namespace {

using kernels::Mode;

using entry_slopes::best_share;
using entry_slopes::inside;
using entry_slopes::kUnit;
using entry_slopes::slopes_of;
using entry_slopes::widened;

/// Values and conjugates of losses are a few operations each: what they return, and what shards' sums lose when they
/// are added, is off by less than this, relative to the terms they are made of.
constexpr double kRounding = 64 * kUnit;

constexpr double kSmallest = std::numeric_limits<double>::min();

/// Entries are met in blocks: a custom loss is asked for many values at once.
constexpr Offset kBlock = 8192;

/// value[i] = loss(x[i], y[i]).
template <class L>
void evaluate(const L& loss, const std::vector<double>& x, const std::vector<double>& y, std::vector<double>& value) {
  value.resize(x.size());
  if constexpr (std::is_same_v<L, losses::Custom>) {
    if (!x.empty()) loss.values(x.data(), y.data(), value.data(), x.size());
  } else {
    for (std::size_t i = 0; i < x.size(); ++i) value[i] = loss.value(x[i], y[i]);
  }
}

template <class L>
void conjugate(const L& loss, const std::vector<double>& s, const std::vector<double>& y, std::vector<double>& value) {
  value.resize(s.size());
  if constexpr (std::is_same_v<L, losses::Custom>) {
    if (!s.empty()) loss.conjugates(s.data(), y.data(), value.data(), s.size());
  } else {
    for (std::size_t i = 0; i < s.size(); ++i) value[i] = loss.conjugate(s[i], y[i]);
  }
}

/// The loss's slope at zero for each datum. It only chooses between slopes that all prove something.
template <class L>
void slopes_at_zero(const L& loss, const std::vector<double>& y, std::vector<double>& slope) {
  slope.resize(y.size());
  if constexpr (std::is_same_v<L, losses::Custom>) {
    // A difference quotient, whose rounding must not lead out of the slopes that the loss has: nobody knows where these
    // end, and beyond them conjugates are infinite. Hence not too short, and a little less than it is.
    double size = 0;
    for (const double datum : y) size += std::abs(datum) / static_cast<double>(y.size());
    const std::vector<double> zero(y.size());
    if (!y.empty()) loss.chords(zero.data(), 1e-3 * size, y.data(), slope.data(), y.size());
    for (double& s : slope) s *= 1 - 4 * double(std::numeric_limits<float>::epsilon());
  } else {
    for (std::size_t i = 0; i < y.size(); ++i) slope[i] = double(loss.subgradient(0.0, y[i]));
  }
}

}  // namespace

EntrySums EntryBounds::values(const EntryData& data, const double* x, const double* error) const {
  const double l1 = mode_ == Mode::masked_l1 ? lambda_ : 0;
  const double complement = mode_ == Mode::masked_complement ? lambda_ : 0;
  return std::visit(
      [&](const auto& loss) {
        PreciseSum objective;
        PreciseSum squares;
        bool finite = true;
        std::vector<double> below;
        std::vector<double> above;
        std::vector<double> y;
        std::vector<double> w;
        std::vector<double> at_below;
        std::vector<double> at_above;
        for (Offset from = 0; from < data.count; from += kBlock) {
          for (std::vector<double>* each : {&below, &above, &y, &w}) each->clear();
          for (Offset e = from; e < std::min(data.count, from + kBlock); ++e) {
            const double size = std::abs(x[e]) + error[e];
            finite = finite && std::isfinite(size);
            squares.add(x[e] * x[e]);
            if (l1 > 0) objective.add(l1 * size);
            const auto datum = double(data.datum(e));
            if (std::isnan(datum)) {
              if (complement > 0) objective.add(complement * size * size);
              continue;
            }
            const double reach = error[e] + 4 * kUnit * (std::abs(x[e]) + std::abs(datum));
            below.push_back(x[e] - reach);
            above.push_back(x[e] + reach);
            y.push_back(datum);
            w.push_back(data.w != nullptr ? double(data.w[e]) : 1.0);
          }
          // A convex function is nowhere in an interval larger than at one of its ends.
          evaluate(loss, below, y, at_below);
          evaluate(loss, above, y, at_above);
          for (std::size_t i = 0; i < y.size(); ++i) {
            finite = finite && std::isfinite(at_below[i]) && std::isfinite(at_above[i]);
            objective.add(w[i] * std::max(at_below[i], at_above[i]));
          }
        }
        EntrySums sums;
        sums.objective = finite ? objective.value() : std::numeric_limits<double>::quiet_NaN();
        sums.square_x = squares.value();
        sums.rounding = kRounding * objective.magnitude();
        // Near the smallest numbers rounding is no longer relative.
        if (objective.magnitude() > 0) sums.rounding += static_cast<double>(data.count) * kSmallest;
        return sums;
      },
      loss_);
}

EntrySums EntryBounds::conjugates(const EntryData& data, Real* slope) const {
  const double l1 = mode_ == Mode::masked_l1 ? lambda_ : 0;
  const double complement = mode_ == Mode::masked_complement ? lambda_ : 0;
  return std::visit(
      [&](const auto& loss) {
        PreciseSum conjugates;
        double products = 0;  // of slopes and data, which the conjugates are the small differences of
        double squares = 0;
        std::vector<double> s;
        std::vector<double> y;
        std::vector<double> w;
        std::vector<double> best;
        std::vector<double> value;
        for (Offset from = 0; from < data.count; from += kBlock) {
          for (std::vector<double>* each : {&s, &y, &w}) each->clear();
          for (Offset e = from; e < std::min(data.count, from + kBlock); ++e) {
            const auto datum = double(data.datum(e));
            if (std::isnan(datum)) {
              if (complement == 0) slope[e] = inside(slope[e], {-l1, l1});
              const double stored = double(slope[e]);
              if (complement > 0) conjugates.add(stored * stored / (4 * complement));
              squares += stored * stored;
              continue;
            }
            const double weight = data.w != nullptr ? double(data.w[e]) : 1.0;
            slope[e] = inside(slope[e], widened(slopes_of(loss, weight, datum), l1));
            const double stored = double(slope[e]);
            squares += stored * stored;
            s.push_back(stored);
            y.push_back(datum);
            w.push_back(weight);
          }
          if (l1 > 0) slopes_at_zero(loss, y, best);
          for (std::size_t i = 0; i < y.size(); ++i) {
            if (l1 > 0) s[i] = best_share(s[i], w[i] * best[i], l1, slopes_of(loss, w[i], y[i]));
            products += std::abs(s[i] * y[i]);
            s[i] /= w[i];
          }
          conjugate(loss, s, y, value);
          for (std::size_t i = 0; i < y.size(); ++i) conjugates.add(w[i] * value[i]);
        }
        EntrySums sums;
        sums.conjugate = conjugates.value();
        sums.square_slope = squares;
        sums.rounding = kRounding * (conjugates.magnitude() + products);
        return sums;
      },
      loss_);
}

}  // namespace tracenorm
