#include "cpu/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cpu/panels.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::cpu {

namespace {

/// They are followed, and sampled, in blocks of this many.
constexpr Offset kBlock = 32768;
constexpr Offset kSampleBlock = 65536;

}  // namespace

void CpuHeldOut::watch(const Entries& entries, Shards shards) {
  entries_ = &entries;
  x_.assign(entries.row.size(), Real(0));
  const std::vector<Index>& cuts = shards.cuts();
  const auto shard_of = [&](Index row) {
    return static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), row) - cuts.begin()) - 1;
  };
  shard_begin_.assign(cuts.size(), 0);
  for (const Index row : entries.row) ++shard_begin_[shard_of(row) + 1];
  std::partial_sum(shard_begin_.begin(), shard_begin_.end(), shard_begin_.begin());
  by_shard_.clear();
  const bool ordered = std::is_sorted(entries.row.begin(), entries.row.end(),
                                      [&](Index a, Index b) { return shard_of(a) < shard_of(b); });
  if (!ordered) {
    by_shard_.resize(x_.size());
    std::vector<std::size_t> place = shard_begin_;
    for (std::size_t e = 0; e < x_.size(); ++e) by_shard_[place[shard_of(entries.row[e])]++] = e;
  }
  parts_.resize(cuts.size() - 1);
  shards_ = std::move(shards);
}

void CpuHeldOut::exchange(Exchange state) {
  std::vector<Real> x = x_;
  state.entries("x", x);
  if (x.size() != x_.size()) {
    throw Error(ErrorCode::input, "the checkpoint has no X for every held-out entry; it is damaged");
  }
  x_ = std::move(x);
}

void CpuHeldOut::load(const FactorView& x, const Execution& execution) {
  if (entries_ == nullptr) return;
  // Row-major copies make one entry's factors contiguous.
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const RowMajor left = columns(x.left) * x.values.asDiagonal();
  const RowMajor right = columns(x.right);
  execution.for_each_block(entries_->size(), kSampleBlock, [&](Offset first, Offset count) {
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + count); ++e) {
      x_[e] = Real(left.row(entries_->row[e]).dot(right.row(entries_->col[e])));
    }
  });
}

void CpuHeldOut::aim(const Product& target, const Execution& execution) {
  if (entries_ == nullptr) return;
  target_.resize(x_.size());
  const Rows left = rows(target.left);
  const Rows right = rows(target.right);
  execution.for_each_block(entries_->size(), kSampleBlock, [&](Offset first, Offset count) {
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + count); ++e) {
      target_[e] = left.row(entries_->row[e]).dot(right.row(entries_->col[e]));
    }
  });
}

void CpuHeldOut::aim_without(const Product& term, double scale) {
  if (entries_ == nullptr) return;
  target_.resize(x_.size());
  const double* left = doubles(term.left);
  const double* right = doubles(term.right);
  for (std::size_t e = 0; e < x_.size(); ++e) {
    target_[e] = Real(scale) * (x_[e] - Real(left[entries_->row[e]] * right[entries_->col[e]]));
  }
}

void CpuHeldOut::move(const Product& atom, double t, const Execution& execution) {
  if (entries_ == nullptr) return;
  const double* left = doubles(atom.left);
  const double* right = doubles(atom.right);
  execution.for_each_block(entries_->size(), kBlock, [&](Offset first, Offset count) {
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + count); ++e) {
      const double target = left[entries_->row[e]] * right[entries_->col[e]];
      x_[e] += Real(t) * (Real(target) - x_[e]);
    }
  });
}

void CpuHeldOut::move(double t) {
  if (entries_ == nullptr) return;
  if (t >= 1) return x_.swap(target_);
  for (std::size_t e = 0; e < x_.size(); ++e) x_[e] += Real(t) * (target_[e] - x_[e]);
}

HeldOutSums CpuHeldOut::sums(const Loss& loss, const Execution& execution) const {
  if (entries_ == nullptr) return {};
  std::visit(
      [&](const auto& chosen) {
        const auto add_shard = [&](int s) {
          HeldOutSums part;
          const auto shard = static_cast<std::size_t>(s);
          for (std::size_t k = shard_begin_[shard]; k < shard_begin_[shard + 1]; ++k) {
            const std::size_t e = by_shard_.empty() ? k : by_shard_[k];
            const double x = double(x_[e]);
            const double y = double(entries_->value[e]);
            part += {(x - y) * (x - y), std::abs(x - y), double(chosen.value(x, y))};
          }
          parts_[shard] = part;
        };
        if (static_cast<Offset>(x_.size()) > kBlock) return execution.for_each_shard(shards_->count(), add_shard);
        for (int s = 0; s < shards_->count(); ++s) add_shard(s);
      },
      loss);
  return shards_->add_up(parts_);
}

}  // namespace tracenorm::cpu
