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
constexpr std::size_t kBlock = 8192;

/// Entries of a block, those with a datum apart from the holes. Nothing branches on which is which: in a matrix of
/// which half is seen no processor could foresee it.
struct Block {
  std::vector<Offset> seen;
  std::vector<Offset> holes;
  std::vector<double> y;  ///< of what is seen
  std::vector<double> w;
  std::vector<Real> decoded;

  void read(const EntryData& data, Offset from) {
    const Offset to = std::min(data.count, from + Offset(kBlock));
    const auto size = static_cast<std::size_t>(to - from);
    for (std::vector<Offset>* places : {&seen, &holes}) places->resize(size);
    y.resize(size);
    const Real* all = data.y + (data.y != nullptr ? from : 0);
    if (data.y == nullptr) {
      decoded.resize(size);
      kernels::CodedData{data.coded.code + from, data.coded.offset, data.coded.scale}.decode(to - from, decoded.data());
      all = decoded.data();
    }
    std::size_t known = 0;
    std::size_t unknown = 0;
    for (Offset e = from; e < to; ++e) {
      const Real datum = all[e - from];
      const bool hole = std::isnan(datum);
      seen[known] = e;
      y[known] = double(datum);
      known += hole ? 0 : 1;
      holes[unknown] = e;
      unknown += hole ? 1 : 0;
    }
    seen.resize(known);
    y.resize(known);
    holes.resize(unknown);
    w.assign(known, 1.0);
    for (std::size_t i = 0; data.w != nullptr && i < known; ++i) w[i] = double(data.w[seen[i]]);
  }
};

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
        Block block;
        std::vector<double> below;
        std::vector<double> above;
        std::vector<double> at_below;
        std::vector<double> at_above;
        const auto meet = [&](Offset e) {
          const double size = std::abs(x[e]) + error[e];
          finite = finite && std::isfinite(size);
          squares.add(x[e] * x[e]);
          if (l1 > 0) objective.add(l1 * size);
          return size;
        };
        for (Offset from = 0; from < data.count; from += Offset(kBlock)) {
          block.read(data, from);
          for (const Offset e : block.holes) {
            const double size = meet(e);
            if (complement > 0) objective.add(complement * size * size);
          }
          below.resize(block.seen.size());
          above.resize(block.seen.size());
          for (std::size_t i = 0; i < block.seen.size(); ++i) {
            const Offset e = block.seen[i];
            meet(e);
            const double reach = error[e] + 4 * kUnit * (std::abs(x[e]) + std::abs(block.y[i]));
            below[i] = x[e] - reach;
            above[i] = x[e] + reach;
          }
          // A convex function is nowhere in an interval larger than at one of its ends.
          evaluate(loss, below, block.y, at_below);
          evaluate(loss, above, block.y, at_above);
          for (std::size_t i = 0; i < block.seen.size(); ++i) {
            finite = finite && std::isfinite(at_below[i]) && std::isfinite(at_above[i]);
            objective.add(block.w[i] * std::max(at_below[i], at_above[i]));
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
        Block block;
        std::vector<double> s;
        std::vector<double> best;
        std::vector<double> value;
        for (Offset from = 0; from < data.count; from += Offset(kBlock)) {
          block.read(data, from);
          for (const Offset e : block.holes) {
            if (complement == 0) slope[e] = inside(slope[e], {-l1, l1});
            const double stored = double(slope[e]);
            if (complement > 0) conjugates.add(stored * stored / (4 * complement));
            squares += stored * stored;
          }
          s.resize(block.seen.size());
          for (std::size_t i = 0; i < s.size(); ++i) {
            Real& own = slope[block.seen[i]];
            own = inside(own, widened(slopes_of(loss, block.w[i], block.y[i]), l1));
            s[i] = double(own);
            squares += s[i] * s[i];
          }
          if (l1 > 0) slopes_at_zero(loss, block.y, best);
          for (std::size_t i = 0; i < s.size(); ++i) {
            if (l1 > 0) s[i] = best_share(s[i], block.w[i] * best[i], l1, slopes_of(loss, block.w[i], block.y[i]));
            products += std::abs(s[i] * block.y[i]);
            s[i] /= block.w[i];
          }
          conjugate(loss, s, block.y, value);
          for (std::size_t i = 0; i < s.size(); ++i) conjugates.add(block.w[i] * value[i]);
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
