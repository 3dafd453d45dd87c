// A CPU store's part in certificates: averages of slopes, sums of conjugates, Gram matrices.
#include "base/precise_sum.hpp"
#include "cpu/panels.hpp"
#include "cpu/passes.hpp"

namespace tracenorm::cpu {

namespace {

/// Columns of a Gram matrix that are made at once.
constexpr Index kGramColumns = 512;

}  // namespace

void CpuStore::average(double t) {
  if (average_.empty()) average_ = slope_;
  // With a penalty off the pattern the slopes are stored as (loss slope - 2 lambda x) + 2 lambda X; both parts are
  // averaged below as they are stored, and the loss slope is recovered by adding the average of 2 lambda x, kept beside
  // it.
  if (off_pattern() && average_x_.empty()) average_x_ = x_;
  const auto blend = kernels::linear_kernels().blend;
  for_each_shard([&](int s) {
    const Offset from = shard_begin(s);
    const Offset count = shard_begin(s + 1) - from;
    blend(average_.data() + from, slope_.data() + from, count, t);
    if (off_pattern()) blend(average_x_.data() + from, x_.data() + from, count, t);
  });
}

EntrySums CpuStore::conjugates(Slopes which, const FactorView* x) {
  RealArray zero;  // needed no longer than its sums
  if (which == Slopes::zero) zero.resize(slope_.size());
  RealArray& slope = which == Slopes::zero ? zero : which == Slopes::average ? average_ : slope_;
  if (off_pattern() && which != Slopes::zero) return conjugates_off_pattern(which, *x);
  dual_of_ = which == Slopes::average ? &average_ : &slope_;
  return sum_over_shards(
      [&](int, Offset from, Offset to) { return bounds().conjugates(data(from, to), slope.data() + from); });
}

EntrySums CpuStore::conjugates_off_pattern(Slopes which, const FactorView& x) {
  // Stored are slopes less 2 lambda x, of the x of then; the loss's own are those that have conjugates.
  const double twice = 2 * lambda_;
  const RealArray& slope = which == Slopes::average ? average_ : slope_;
  const RealArray& slope_x = which == Slopes::average ? average_x_ : x_;
  const ExactFactors factors(x);
  dual_.resize(slope.size());
  dual_rest_.resize(slope.size());
  return sum_over_shards([&](int s, Offset first, Offset last) {
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(last); ++e) {
      dual_[e] = Real(double(slope[e]) + twice * double(slope_x[e]));
    }
    EntrySums part = bounds().conjugates(data(first, last), dual_.data() + first);
    part.square_slope = 0;
    PreciseSum square_x;
    std::vector<double> at;
    for_row_blocks(s, [&](RowRange rows) {
      const Offset from = layout_->row_begin(rows.first);
      at.resize(static_cast<std::size_t>(layout_->row_begin(rows.last) - from));
      layout_->load(rows, factors, at.data(), nullptr);
      for (std::size_t k = 0; k < at.size(); ++k) {
        const std::size_t e = static_cast<std::size_t>(from) + k;
        dual_rest_[e] = Real(double(dual_[e]) - twice * at[k]);
        square_x.add(at[k] * at[k]);
        part.square_slope += double(dual_rest_[e]) * double(dual_rest_[e]);
      }
    });
    part.square_x = square_x.value();
    return part;
  });
}

Eigen::MatrixXd CpuStore::gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) {
  const Real* m = slopes(which);
  RealArray scaled;
  if (row_factor) {
    scaled.assign(m, m + facts_.entries);
    for_each_shard(
        [&](int s) { layout_->scale(shard_rows(s), doubles(row_factor), doubles(col_factor), scaled.data()); });
    m = scaled.data();
  }
  if (side == Side::left) return layout_->gram_of_rows(m);
  // Shard after shard, as a matrix for each would be too much; while one place adds to some columns, the next one adds
  // to those before.
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(facts_.cols, facts_.cols);
  for (Index first = 0; first < facts_.cols; first += kGramColumns) {
    const Index last = std::min(facts_.cols, first + kGramColumns);
    const auto add = [&] {
      for (int s = 0; s < shards(); ++s) layout_->add_gram(shard_rows(s), m, first, last, out);
    };
    const std::span<double> columns(out.col(first).data(), static_cast<std::size_t>(out.rows()) * (last - first));
    shards_->others() == nullptr ? add() : shards_->others()->in_turn(columns, add);
  }
  if (shards_->others() != nullptr)
    shards_->others()->share_last(std::span(out.data(), static_cast<std::size_t>(out.size())));
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
  return out;
}

}  // namespace tracenorm::cpu
