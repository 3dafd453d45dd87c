// Rank-drop steps on the CPU: what they would do to the objective, and doing them.
#include <algorithm>

#include "base/parallel.hpp"
#include "evaluators/cpu_evaluator.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm {

void CpuEvaluator::keep_thin() {
  keep_remembered();
  if (!thin_) thin_.emplace(iterate_);
}

void CpuEvaluator::project_slopes(Eigen::MatrixXd& out) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor block = thin_->right();
  if (weighted_norm()) block.array().colwise() *= col_scale_.array();
  const auto width = static_cast<Index>(block.cols());
  RowMajor product(rows_, width);
  count_pass(1 + width / 4.0);  // one pass over the entries, each met by `width` multiply-adds
  counters_.products += width;
  for_each_shard(shards(),
                 [&](int s) { apply_block_shard(s, slopes(Slopes::current), block.data(), width, product.data()); });
  if (weighted_norm()) product.array().colwise() *= row_scale_.array();
  out.noalias() = thin_->left().transpose() * product;
  if (has_low_rank_part()) out.diagonal() += 2 * lambda_ * thin_->values();
}

CpuEvaluator::DroppedTerm CpuEvaluator::dropped_term(const RankDropStep& step) {
  DroppedTerm term;
  term.x = thin_->values().cwiseSqrt().cwiseProduct(step.q);
  thin_->left_times(term.x, term.left);
  thin_->right_times(term.x, term.right);
  if (weighted_norm()) {
    term.left.array() *= row_scale_.array();
    term.right.array() *= col_scale_.array();
  }
  return term;
}

double CpuEvaluator::sample_drop(const RankDropStep& step) {
  const DroppedTerm term = dropped_term(step);
  const Vector& x = term.x;
  count_pass();
  target_.resize(x_.size());
  const Real c = Real(step.scale);
  for_each_shard(shards(), [&](int s) {
    Real* target = target_.data() + shard_begin(s);
    const Real* old = x_.data() + shard_begin(s);
    sample_entries(shard_begin(s), shard_begin(s + 1), term.left.data(), term.right.data(), target);
    const Offset count = shard_begin(s + 1) - shard_begin(s);
    for (Offset e = 0; e < count; ++e) target[e] = c * (old[e] - target[e]);
  });
  matrix_sampled_ = false;
  const double cross = x.dot(thin_->values().cwiseProduct(x));
  const double square = thin_->values().squaredNorm() - 2 * cross + x.squaredNorm() * x.squaredNorm();
  return step.scale * step.scale * std::max(0.0, square);
}

double CpuEvaluator::objective_after(const RankDropStep& step) {
  const double square = sample_drop(step);
  count_pass();
  double sum = visit_kernels(problem_.loss, mode_, weight_ != nullptr, [&](const auto& loss, const auto& table) {
    return sum_over_shards([&](int s) {
      kernels::EntryRange r = range(s, nullptr);
      r.x = target_.data() + shard_begin(s);
      return table.objective(loss, r);
    });
  });
  if (has_low_rank_part()) {
    const double observed = sum_over_shards([&](int s) {
      double part = 0;
      for (Offset e = shard_begin(s); e < shard_begin(s + 1); ++e) {
        const double entry = double(target_[static_cast<std::size_t>(e)]);
        part += entry * entry;
      }
      return part;
    });
    sum += lambda_ * std::max(0.0, square - observed);
  }
  return sum;
}

double CpuEvaluator::smoothed_change_after(const RankDropStep& step, double width) {
  const double square = sample_drop(step);
  count_pass();
  const double change =
      visit_kernels(problem_.loss, mode_, weight_ != nullptr, [&](const auto& loss, const auto& table) {
        return sum_over_shards([&](int s) {
          constexpr Offset block = 1024;
          Real there[block];  // the slopes after the step
          double sum = 0;
          for (Offset from = shard_begin(s); from < shard_begin(s + 1); from += block) {
            const Offset count = std::min(block, shard_begin(s + 1) - from);
            const kernels::EntryRange r{
                value_ + from, weight_ != nullptr ? weight_ + from : nullptr, target_.data() + from, there, count,
                lambda_};
            table.linearize(loss, r, width);
            for (Offset e = 0; e < count; ++e) {
              const auto at = static_cast<std::size_t>(from + e);
              sum += 0.5 * (double(slope_[at]) + double(there[e])) * (double(target_[at]) - double(x_[at]));
            }
          }
          return sum;
        });
      });
  // Slopes of a complement penalty are stored less their low-rank part, which is that of lambda |X|_F^2.
  return has_low_rank_part() ? change + lambda_ * (square - square_norm_) : change;
}

Eigen::MatrixXd CpuEvaluator::drop(const RankDropStep& step) {
  forget_first_product();
  square_norm_ = sample_drop(step);
  x_.swap(target_);
  if (watched_ != nullptr) {
    const DroppedTerm term = dropped_term(step);
    for (std::size_t e = 0; e < watched_x_.size(); ++e) {
      watched_x_[e] =
          Real(step.scale) * (watched_x_[e] - Real(term.left[watched_->row[e]] * term.right[watched_->col[e]]));
    }
  }
  iterate_stale_ = true;
  return thin_->drop(step.q, step.scale);
}

}  // namespace tracenorm
