// Targets of a CPU store: at the entries, along the way to them, and moving there.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "cpu/panels.hpp"
#include "cpu/passes.hpp"

namespace tracenorm::cpu {

namespace {

/// An atom is sampled for this many entries at a time, in the first cache.
constexpr Offset kAtomBlock = 2048;

/// Slopes after a step are made for this many.
constexpr Offset kSlopeBlock = 1024;

}  // namespace

void CpuStore::aim(const Product& target) {
  if (target.left.use() == Use::exact) {  // an atom is sampled where it is met
    aimed_at_ = Aim::atom;
    atom_ = target;
    return;
  }
  aimed_at_ = Aim::matrix;
  target_.resize(x_.size());
  const FactorRows at{reals(target.left), reals(target.right), target.left.columns()};
  for_each_shard([&](int s) {
    for (Offset from = shard_begin(s); from < shard_begin(s + 1);) {
      const Offset to = std::min(shard_begin(s + 1), layout_->factor_block_end(from));
      layout_->factor_entries(from, to, at, Real(1), target_.data() + from);
      from = to;
    }
  });
  held_out_.aim(target, execution_);
}

EntrySums CpuStore::aim_without(const Product& term, double scale, std::optional<double> width) {
  aimed_at_ = Aim::matrix;
  target_.resize(x_.size());
  const Real c = Real(scale);
  for_each_shard([&](int s) {
    const auto from = static_cast<std::size_t>(shard_begin(s));
    const auto to = static_cast<std::size_t>(shard_begin(s + 1));
    layout_->sample(shard_begin(s), shard_begin(s + 1), doubles(term.left), doubles(term.right), target_.data() + from);
    for (std::size_t e = from; e < to; ++e) target_[e] = c * (x_[e] - target_[e]);
  });
  held_out_.aim_without(term, scale);
  if (!width) return value_at(target_);
  return visit_loss([&](const auto& loss, const auto& table) {
    return sum_over_shards([&](int, Offset begin, Offset end) {
      EntrySums part;
      Real there[kSlopeBlock];  // the slopes after the step
      RealArray decoded;
      for (Offset from = begin; from < end; from += kSlopeBlock) {
        const Offset to = std::min(end, from + kSlopeBlock);
        kernels::EntryRange r = range(from, to, target_.data() + from, there);
        decode(r, decoded);
        table.linearize(loss, r, *width);
        for (Offset e = from; e < to; ++e) {
          const auto at = static_cast<std::size_t>(e);
          part.inner += 0.5 * (double(slope_[at]) + double(there[e - from])) * (double(target_[at]) - double(x_[at]));
        }
      }
      return part;
    });
  });
}

SegmentSums CpuStore::segment(std::span<const double> t, std::optional<double> width) {
  assert(!t.empty() && t.size() <= kSegmentPoints);
  double points[kSegmentPoints];
  for (int p = 0; p < kSegmentPoints; ++p) {
    points[p] = t[std::min(static_cast<std::size_t>(p), t.size() - 1)];
  }
  visit_loss([&](const auto& loss, const auto& table) {
    for_each_shard([&](int s) {
      SegmentSums& sums = segment_parts_[static_cast<std::size_t>(s)];
      sums = {};
      ShiftedPlaces places;
      RealArray decoded;
      Real atom[kAtomBlock];
      for (Offset from = shard_begin(s); from < shard_begin(s + 1); from += kAtomBlock) {
        const Offset to = std::min(shard_begin(s + 1), from + kAtomBlock);
        const Real* target = atom;
        if (aimed_at_ == Aim::atom) {
          layout_->sample(from, to, doubles(atom_.left), doubles(atom_.right), atom);
        } else {
          target = target_.data() + from;
        }
        kernels::EntryRange r = range(from, to, x_.data() + from, nullptr);
        decode(r, decoded);
        if (width) {
          shift(r, from, *width, places);
          table.smoothed_segment(loss, r, target, points, *width, sums);
        } else {
          table.segment(loss, r, target, points, sums);
        }
      }
      if (doubled(s)) sums.twice();
    });
  });
  return shards_->add_up(segment_parts_);
}

double CpuStore::move(double t) {
  const std::vector<Index>& order = layout_->column_order();
  if (aimed_at_ == Aim::atom) {
    const double* right = doubles(atom_.right);
    for (std::size_t j = 0; j < atom_right_.size(); ++j) {
      atom_right_[j] = Real(right[order.empty() ? static_cast<Index>(j) : order[j]]);
    }
  }
  for_each_shard([&](int s) {
    double largest = 0;
    if (aimed_at_ == Aim::atom) {
      largest = layout_->move(shard_rows(s), x_.data(), kink_mask_, doubles(atom_.left), atom_right_.data(), t);
    } else {
      const auto end = static_cast<std::size_t>(shard_begin(s + 1));
      for (auto e = static_cast<std::size_t>(shard_begin(s)); e < end; ++e) {
        const Real change = target_[e] - x_[e];
        const bool kinked = kink_mask_ == nullptr || !std::isnan(kink_mask_[e]);
        if (kinked) largest = std::max(largest, std::abs(double(change)));
        x_[e] = t >= 1 ? target_[e] : x_[e] + Real(t) * change;
      }
    }
    parts_[static_cast<std::size_t>(s)].objective = largest;
  });
  if (aimed_at_ == Aim::atom) {
    held_out_.move(atom_, t, execution_);
  } else {
    held_out_.move(t);
    aimed_at_ = Aim::met;
  }
  double largest = 0;
  for (const EntrySums& part : parts_) largest = std::max(largest, part.objective);
  return largest;
}

}  // namespace tracenorm::cpu
