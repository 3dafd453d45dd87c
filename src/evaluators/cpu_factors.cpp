// The CPU evaluators' part in optimisation over factors: the smoothed objective and its gradient at X = scale * left
// right', in one pass that keeps no entry, and targets of any rank.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "evaluators/cpu_evaluator.hpp"
#include "linalg/blas.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm {

namespace {

/// A pass, and what entries cost that meet `width` multiply-adds some times: sixteen of those take about as long.
double passes_of(const Factors& factors, int products) { return 1 + products * factors.width() / 16.0; }

}  // namespace

const Factors& CpuEvaluator::data_factors(const Factors& z) {
  if (!weighted_norm()) return z;
  scaled_factors_ = z;
  balance(scaled_factors_);
  return scaled_factors_;
}

void CpuEvaluator::balance(Factors& products) const {
  if (!weighted_norm()) return;
  products.left().array().colwise() *= row_scale_.array().cast<Real>();
  products.right().array().colwise() *= col_scale_.array().cast<Real>();
}

template <class SlopesOf>
void CpuEvaluator::sum_factor_products(const Factors& at, Factors& products, SlopesOf&& slopes_of) {
  blas::use_one_thread();
  const int count = static_cast<int>(factor_cuts_.size()) - 1;
  const std::size_t size = static_cast<std::size_t>(cols_) * static_cast<std::size_t>(at.width());
  factor_outputs_.resize(static_cast<std::size_t>(count));
  if (products.width() != at.width()) products = Factors(rows_, cols_, at.width());
  const Offset block = factor_block();
  for_each_shard(count, [&](int s) {
    const Index first = factor_cuts_[static_cast<std::size_t>(s)];
    const Index last = factor_cuts_[static_cast<std::size_t>(s) + 1];
    std::vector<Real>& output = factor_outputs_[static_cast<std::size_t>(s)];
    output.assign(size, Real(0));
    products.left().middleRows(first, last - first).setZero();
    for (Offset from = row_begin(first); from < row_begin(last); from += block) {
      const Offset to = std::min(row_begin(last), from + block);
      factor_products(from, to, slopes_of(s, from, to), at, products.left().data(), output.data());
    }
  });
  for_column_blocks([&](Index from, Index columns) {
    const auto width = static_cast<Eigen::Index>(at.width());
    auto sum = products.right().middleRows(from, columns);
    sum = Eigen::Map<const Factors::Matrix>(factor_outputs_[0].data() + from * width, columns, width);
    for (std::size_t s = 1; s < factor_outputs_.size(); ++s) {
      sum += Eigen::Map<const Factors::Matrix>(factor_outputs_[s].data() + from * width, columns, width);
    }
  });
}

Linearization CpuEvaluator::factor_gradient(const Factors& at, double scale, double width, Factors& products) {
  count_pass(passes_of(at, 3));
  counters_.products += 2 * at.width();
  const Factors& x = data_factors(at);
  const auto block = static_cast<std::size_t>(factor_block());
  struct Buffers {
    std::vector<Real> x;
    std::vector<Real> slope;
    ShiftedPlaces places;
    kernels::EntrySums sums;
  };
  std::vector<Buffers> buffers(factor_cuts_.size());
  visit_kernels(problem_.loss, mode_, weight_ != nullptr, [&](const auto& loss, const auto& table) {
    const bool coded = coded_.code != nullptr && table.linearize_coded != nullptr;
    const auto kernel = coded ? table.linearize_coded : table.linearize;
    sum_factor_products(x, products, [&](int s, Offset from, Offset to) {
      Buffers& own = buffers[static_cast<std::size_t>(s)];
      own.x.resize(block);
      own.slope.resize(block);
      factor_entries(from, to, x, Real(scale), own.x.data());
      kernels::EntryRange r = range(from, to, nullptr);
      r.x = own.x.data();
      r.slope = own.slope.data();
      shift(r, from, width, own.places);
      own.sums += kernel(loss, r, width);
      return own.slope.data();
    });
  });
  kernels::EntrySums sums;
  for (const Buffers& own : buffers) sums += own.sums;
  Linearization model{sums.objective, sums.inner, std::numeric_limits<double>::quiet_NaN()};
  balance(products);
  if (has_low_rank_part()) {  // slopes off the pattern are 2 lambda X
    const Eigen::MatrixXd lefts = (at.left().transpose() * at.left()).cast<double>();
    const Eigen::MatrixXd rights = (at.right().transpose() * at.right()).cast<double>();
    const double square = scale * scale * lefts.cwiseProduct(rights).sum();
    const double off = lambda_ * std::max(0.0, square - sums.square_x);
    model.objective += off;
    model.inner += 2 * off;
    const double factor = 2 * lambda_ * scale;
    products.left() += at.left() * (factor * rights).cast<Real>();
    products.right() += at.right() * (factor * lefts).cast<Real>();
  }
  return model;
}

void CpuEvaluator::multiply(const Factors& block, Factors& out) {
  count_pass(passes_of(block, 2));
  counters_.products += 2 * block.width();
  const Real* m = slopes(Slopes::current);
  sum_factor_products(data_factors(block), out, [&](int, Offset from, Offset) { return m + from; });
  balance(out);
  if (!has_low_rank_part()) return;
  const Eigen::MatrixXd right_block = block.right().cast<double>();
  const Eigen::MatrixXd left_block = block.left().cast<double>();
  const Eigen::MatrixXd values = (2 * lambda_ * iterate_.values()).asDiagonal();
  out.left() += (iterate_.left() * (values * (iterate_.right().transpose() * right_block))).cast<Real>();
  out.right() += (iterate_.right() * (values * (iterate_.left().transpose() * left_block))).cast<Real>();
}

void CpuEvaluator::aim(const LowRankMatrix& target) {
  assert(!thin_);
  aimed_ = nullptr;
  aimed_matrix_ = &target;
  matrix_sampled_ = false;
}

void CpuEvaluator::sample_matrix() {
  if (matrix_sampled_) return;
  matrix_sampled_ = true;
  target_.resize(x_.size());
  const Factors z(*aimed_matrix_);
  const Factors& at = data_factors(z);
  count_pass(passes_of(at, 1));
  blas::use_one_thread();
  const Offset block = factor_block();
  for_each_shard(shards(), [&](int s) {
    for (Offset from = shard_begin(s); from < shard_begin(s + 1); from += block) {
      const Offset to = std::min(shard_begin(s + 1), from + block);
      factor_entries(from, to, at, Real(1), target_.data() + from);
    }
  });
}

double CpuEvaluator::move_to_matrix(double t) {
  sample_matrix();
  count_pass();
  for_each_shard(shards(), [&](int s) {
    double largest = 0;
    for (Offset e = shard_begin(s); e < shard_begin(s + 1); ++e) {
      const auto at = static_cast<std::size_t>(e);
      const Real change = target_[at] - x_[at];
      largest = std::max(largest, std::abs(double(change)));
      x_[at] = t >= 1 ? target_[at] : x_[at] + Real(t) * change;
    }
    shard_values_[static_cast<std::size_t>(s)] = largest;
  });
  if (has_low_rank_part()) {
    const auto [inner, square] = target_products();
    square_norm_ = (1 - t) * (1 - t) * square_norm_ + 2 * t * (1 - t) * inner + t * t * square;
  }
  if (watched_ != nullptr) {
    std::vector<Real> there;
    scaled_to_data(*aimed_matrix_).sample(watched_->row, watched_->col, there);
    for (std::size_t e = 0; e < there.size(); ++e) {
      watched_x_[e] = t >= 1 ? there[e] : watched_x_[e] + Real(t) * (there[e] - watched_x_[e]);
    }
  }
  if (t >= 1) keep_remembered();
  iterate_.blend(t, *aimed_matrix_);
  aimed_matrix_ = nullptr;  // it need not live longer
  matrix_sampled_ = false;
  return *std::max_element(shard_values_.begin(), shard_values_.end());
}

}  // namespace tracenorm
