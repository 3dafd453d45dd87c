// A weighted trace norm on the CPU. The entries stay those of X, so losses, widths and held-out errors keep their
// units; everything low-rank is that of Z = diag(row weight) X diag(col weight), so radius, singular values and rank
// drops mean what they mean for the plain norm. The two meet in the vectors that touch entries: with M the slopes of X,
// those of Z are R M C, and (R M C) v is R (M (C v)). No scaled copy of the slopes is kept.
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "evaluators/cpu_evaluator.hpp"

namespace tracenorm {

double CpuEvaluator::balanced_square(Slopes which) {
  if (!weighted_norm()) return which == Slopes::current ? slope_square_ : average_square_;
  count_pass();
  return sum_over_shards([&](int s) { return scaled_square(s, slopes(which), row_scale_.data(), col_scale_.data()); });
}

std::vector<Real> CpuEvaluator::balanced(Slopes which) {
  count_pass();
  std::vector<Real> copy(static_cast<std::size_t>(entries()));
  for_each_shard(shards(), [&](int s) {
    const Offset from = shard_begin(s);
    scale_shard(s, slopes(which) + from, row_scale_.data(), col_scale_.data(), copy.data() + from);
  });
  return copy;
}

LowRankMatrix CpuEvaluator::to_data_units(LowRankMatrix z) const {
  if (!weighted_norm()) return z;
  LowRankMatrix x = scaled_to_data(std::move(z));
  x.compress();  // scaled singular vectors are no longer orthogonal
  return x;
}

LowRankMatrix CpuEvaluator::scaled_to_data(LowRankMatrix z) const {
  if (weighted_norm()) z.scale(row_scale_, col_scale_);
  return z;
}

LowRankMatrix CpuEvaluator::from_data_units(LowRankMatrix x) const {
  if (!weighted_norm()) return x;
  x.scale(row_scale_.cwiseInverse(), col_scale_.cwiseInverse());
  return x;
}

}  // namespace tracenorm
