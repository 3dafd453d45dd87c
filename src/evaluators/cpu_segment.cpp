// The segment from the iterate to a target on the CPU: the target at the entries, and sums along the way.
#include <algorithm>
#include <cassert>

#include "base/parallel.hpp"
#include "evaluators/cpu_evaluator.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm {

namespace {

/// An atom is sampled for this many entries at a time, in the first cache.
constexpr Offset kAtomBlock = 2048;

}  // namespace

void CpuEvaluator::aim(const Atom& atom) {
  aimed_ = &atom;
  aimed_matrix_ = nullptr;
  aimed_left_ = atom.weight * atom.left;
  aimed_right_ = atom.right;
  if (weighted_norm()) {
    aimed_left_.array() *= row_scale_.array();
    aimed_right_.array() *= col_scale_.array();
  }
  matrix_sampled_ = false;
}

CpuEvaluator::TargetProducts CpuEvaluator::target_products() const {
  if (!has_low_rank_part()) return {0, 0};  // nobody asks
  if (aimed_matrix_ != nullptr) return {iterate_.inner(*aimed_matrix_), aimed_matrix_->inner(*aimed_matrix_)};
  return {aimed_->weight * iterate_inner(aimed_->left, aimed_->right), aimed_->weight * aimed_->weight};
}

kernels::SegmentSums CpuEvaluator::sum_segment(std::span<const double> t, std::optional<double> width) {
  assert(t.size() <= kernels::kSegmentPoints);
  if (aimed_matrix_ != nullptr) sample_matrix();
  count_pass();
  double points[kernels::kSegmentPoints];
  for (int p = 0; p < kernels::kSegmentPoints; ++p) {
    points[p] = t[std::min(static_cast<std::size_t>(p), t.size() - 1)];
  }
  std::vector<kernels::SegmentSums> parts(static_cast<std::size_t>(shards()));
  visit_kernels(problem_.loss, mode_, weight_ != nullptr, [&](const auto& loss, const auto& table) {
    for_each_shard(shards(), [&](int s) {
      kernels::SegmentSums& sums = parts[static_cast<std::size_t>(s)];
      ShiftedPlaces places;
      Real atom[kAtomBlock];
      for (Offset from = shard_begin(s); from < shard_begin(s + 1); from += kAtomBlock) {
        const Offset to = std::min(shard_begin(s + 1), from + kAtomBlock);
        const Real* target = aimed_matrix_ != nullptr ? target_.data() + from : atom;
        if (aimed_matrix_ == nullptr) sample_entries(from, to, aimed_left_.data(), aimed_right_.data(), atom);
        kernels::EntryRange r = range(from, to, nullptr);
        if (width) {
          shift(r, from, *width, places);
          table.smoothed_segment(loss, r, target, points, *width, sums);
        } else {
          table.segment(loss, r, target, points, sums);
        }
      }
    });
  });
  kernels::SegmentSums sum;
  for (const kernels::SegmentSums& part : parts) sum += part;
  return sum;
}

SegmentPoint CpuEvaluator::off_pattern(const TargetProducts& products, double t, double square,
                                       double square_derivative) const {
  if (!has_low_rank_part()) return {0, 0};
  // |X(t)|_F^2 is a parabola; its part on the pattern came with the pass.
  const auto [inner, target_square] = products;
  const double whole = (1 - t) * (1 - t) * square_norm_ + 2 * t * (1 - t) * inner + t * t * target_square;
  const double whole_derivative = 2 * ((t - 1) * square_norm_ + (1 - 2 * t) * inner + t * target_square);
  return {lambda_ * std::max(0.0, whole - square), lambda_ * (whole_derivative - square_derivative)};
}

void CpuEvaluator::objective_at(std::span<const double> t, std::span<SegmentPoint> out) {
  assert(t.size() == out.size());
  const kernels::SegmentSums sums = sum_segment(t, std::nullopt);
  const TargetProducts products = target_products();
  for (std::size_t p = 0; p < t.size(); ++p) {
    const SegmentPoint off = off_pattern(products, t[p], sums.square[p], sums.square_derivative[p]);
    out[p] = {sums.value[p] + off.value, sums.derivative[p] + off.derivative};
  }
}

void CpuEvaluator::smoothed_derivatives_at(std::span<const double> t, double width, std::span<double> out) {
  assert(t.size() == out.size());
  const kernels::SegmentSums sums = sum_segment(t, width);
  const TargetProducts products = target_products();
  for (std::size_t p = 0; p < t.size(); ++p) {
    out[p] = sums.derivative[p] + off_pattern(products, t[p], sums.square[p], sums.square_derivative[p]).derivative;
  }
}

}  // namespace tracenorm
