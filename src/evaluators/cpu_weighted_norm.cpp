// A weighted trace norm on the CPU. The entries stay those of X, so losses, widths and held-out errors keep their
// units; everything low-rank is that of Z = diag(row weight) X diag(col weight), so radius, singular values and rank
// drops mean what they mean for the plain norm. The two meet in the vectors that touch entries and in one scaled copy
// of the slopes.
#include <utility>

#include "base/parallel.hpp"
#include "evaluators/cpu_evaluator.hpp"

namespace tracenorm {

double CpuEvaluator::balance(const std::vector<Real>& slope, std::vector<Real>& balanced) {
  count_pass();
  balanced.resize(slope.size());
  return sum_over_shards([&](int s) {
    const Offset from = shard_begin(s);
    Real* out = balanced.data() + from;
    scale_shard(s, slope.data() + from, row_scale_.data(), col_scale_.data(), out);
    double square = 0;
    for (Offset e = 0; e < shard_begin(s + 1) - from; ++e) square += double(out[e]) * double(out[e]);
    return square;
  });
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
