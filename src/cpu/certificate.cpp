// A CPU store's part in certificates: averages of slopes, sums of conjugates, Gram matrices.
#include "cpu/panels.hpp"
#include "cpu/passes.hpp"

namespace tracenorm::cpu {

void CpuStore::average(double t) {
  if (average_.empty()) average_ = slope_;
  // With a penalty off the pattern the slopes are stored as (loss slope - 2 lambda x) + 2 lambda X; both parts are
  // averaged below as they are stored, and the loss slope is recovered by adding the average of 2 lambda x, kept beside
  // it.
  if (off_pattern() && average_x_.empty()) average_x_ = x_;
  const auto blend = kernels::linear_kernels().blend;
  execution_.for_each_shard(shards(), [&](int s) {
    const Offset from = shard_begin(s);
    const Offset count = shard_begin(s + 1) - from;
    blend(average_.data() + from, slope_.data() + from, count, t);
    if (off_pattern()) blend(average_x_.data() + from, x_.data() + from, count, t);
  });
}

EntrySums CpuStore::conjugates_of(RealArray& slope, kernels::Mode mode) const {
  return visit_kernels(loss_, mode, weight_ != nullptr, [&](const auto& loss, const auto& table) {
    return sum_over_shards([&](int, Offset from, Offset to) {
      return table.conjugate(loss, range(from, to, x_.data() + from, slope.data() + from));
    });
  });
}

EntrySums CpuStore::conjugates(Slopes which) {
  const kernels::Mode mode = off_pattern() ? kernels::Mode::observed : mode_;
  if (which == Slopes::zero) {
    RealArray zero(x_.size(), Real(0));
    return conjugates_of(zero, mode);
  }
  if (!off_pattern()) return conjugates_of(average_, mode);
  // On the pattern: the averaged loss slopes. Off it any matrix will do, and 2 lambda X of today is at hand as factors.
  // So the dual point is P(average loss slope - 2 lambda x) + 2 lambda X.
  const Real twice = Real(2 * lambda_);
  certified_.resize(average_.size());
  for (std::size_t e = 0; e < average_.size(); ++e) certified_[e] = average_[e] + twice * average_x_[e];
  EntrySums sums = conjugates_of(certified_, mode);
  sums.square_slope = 0;
  for (std::size_t e = 0; e < average_.size(); ++e) {
    certified_[e] -= twice * x_[e];
    sums.square_slope += double(certified_[e]) * double(certified_[e]);
  }
  return sums;
}

Eigen::MatrixXd CpuStore::gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) {
  if (!row_factor) return layout_->gram(slopes(which), side);
  RealArray scaled(slopes(which), slopes(which) + facts_.entries);
  execution_.for_each_shard(
      shards(), [&](int s) { layout_->scale(shard_rows(s), doubles(row_factor), doubles(col_factor), scaled.data()); });
  return layout_->gram(scaled.data(), side);
}

}  // namespace tracenorm::cpu
