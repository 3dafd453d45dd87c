// The CPU evaluators' part in certificates: averages of slopes, sums of conjugates, and upper bounds of sigma_1.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "evaluators/cpu_evaluator.hpp"
#include "linalg/spectral_bound.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm {

namespace {

/// One probabilistic bound is wrong with at most this probability; the certificate adds them up.
constexpr double kFailureProbability = 1e-9;

}  // namespace

void CpuEvaluator::average(double t) {
  count_pass();
  counters_.certificate_passes += 1;
  if (average_.empty()) average_ = slope_;
  // With a low-rank part the slopes are stored as (loss slope - 2 lambda x) + 2 lambda X; both parts are averaged below
  // as they are stored, and the loss slope is recovered by adding the average of 2 lambda x, kept beside it.
  const auto blend = kernels::linear_kernels().blend;
  if (has_low_rank_part() && average_x_.empty()) average_x_ = x_;
  for_each_shard(shards(), [&](int s) {
    const Offset from = shard_begin(s);
    const Offset count = shard_begin(s + 1) - from;
    blend(average_.data() + from, slope_.data() + from, count, t);
    if (has_low_rank_part()) blend(average_x_.data() + from, x_.data() + from, count, t);
  });
}

double CpuEvaluator::average_conjugate_sum() {
  count_pass();
  counters_.certificate_passes += 1;
  if (!has_low_rank_part()) {
    return stored_conjugate_sum(average_, mode_, &average_square_);
  }
  // On the pattern: the averaged loss slopes. Off it any matrix will do, and 2 lambda X of today is at hand as factors.
  // So the dual point is P(average loss slope - 2 lambda x) + 2 lambda X.
  const Real twice = Real(2 * lambda_);
  certified_.resize(average_.size());
  for (std::size_t e = 0; e < average_.size(); ++e) certified_[e] = average_[e] + twice * average_x_[e];
  double unused = 0;
  const double on_pattern = stored_conjugate_sum(certified_, kernels::Mode::observed, &unused);
  average_square_ = 0;
  for (std::size_t e = 0; e < average_.size(); ++e) {
    certified_[e] -= twice * x_[e];
    average_square_ += double(certified_[e]) * double(certified_[e]);
  }
  return on_pattern + lambda_ * complement_square(observed_square_);
}

double CpuEvaluator::zero_conjugate_sum() {
  count_pass();
  counters_.certificate_passes += 1;
  std::vector<Real> zero(x_.size(), Real(0));
  double unused = 0;
  return stored_conjugate_sum(zero, has_low_rank_part() ? kernels::Mode::observed : mode_, &unused);
}

double CpuEvaluator::stored_conjugate_sum(std::vector<Real>& slope, kernels::Mode mode, double* square) {
  visit_kernels(problem_.loss, mode, weight_ != nullptr, [&](const auto& loss, const auto& table) {
    for_each_shard(shards(), [&](int s) {
      entry_sums_[static_cast<std::size_t>(s)] = table.conjugate(loss, range(s, slope.data()));
    });
  });
  kernels::EntrySums sums;
  for (const kernels::EntrySums& shard : entry_sums_) sums += shard;
  *square = sums.square_slope;
  return sums.conjugate;
}

double CpuEvaluator::estimate_norm(Slopes which) {
  if (which == Slopes::current) return leading_.sigma;
  if (average_start_.size() == 0) {
    average_start_.resize(cols_, 1);
    for (Index j = 0; j < cols_; ++j) average_start_(j, 0) = Real(leading_.atom.right[natural(j)]);
  }
  draw_start(average_start_, 1);
  const double before = counters_.passes;
  const double size = fast_size(which);
  const KrylovResult found = average_krylov_.leading(
      [&](int, const RealBlock& q, RealBlock& out) { normal_fast(which, size, q, out, average_product_); },
      average_start_, 1e-3, 16);  // what it decides is only whether a proof is worth its passes
  counters_.certificate_passes += counters_.passes - before;
  return size * std::sqrt(std::max(0.0, found.eigenvalue));
}

double CpuEvaluator::rounding_margin(double square) const {
  // Stored slopes are rounded to Real, and conjugates clamp them into the loss's slopes: the matrix whose conjugates
  // were summed differs from the stored one by at most one unit in the last place per entry. With a low-rank part, the
  // entries of X and the factors may also differ by the rounding of the moves.
  const double unit = std::numeric_limits<Real>::epsilon();
  const double roundings = weighted_norm() ? 2 : 1;  // slopes of Z may be rounded once more
  double margin = roundings * unit * std::sqrt(square);
  if (has_low_rank_part()) margin += 2 * lambda_ * 64 * unit * std::sqrt(std::max(square_norm_, observed_square_));
  return margin;
}

SpectralBound CpuEvaluator::dense_bound(Slopes which, bool of_columns, bool exact, double passes) {
  count_pass(passes);
  counters_.certificate_passes += passes;
  Eigen::MatrixXd g;
  weighted_norm() ? gram(balanced(which).data(), of_columns, g) : gram(slopes(which), of_columns, g);
  const double stored_square = weighted_norm() ? g.trace() : balanced_square(which);  // known without another pass
  double frobenius = std::sqrt(stored_square);
  if (has_low_rank_part()) {
    refresh_iterate();  // as U, values, V
    // G = M + L with L = U C V': G'G = M'M + (M'U) C V' + V C (U'M) + V C (U'U) C V', or the same transposed.
    const auto near = of_columns ? iterate_.right() : iterate_.left();
    const auto far = of_columns ? iterate_.left() : iterate_.right();
    Eigen::MatrixXd cross(of_columns ? cols_ : rows_, iterate_.terms());
    Vector column;
    for (Index t = 0; t < iterate_.terms(); ++t) {
      if (of_columns) {
        apply_entries_transpose(which, far.col(t), column);
      } else {
        apply_entries(which, far.col(t), column);
      }
      cross.col(t) = column;
    }
    const Eigen::MatrixXd scaled = near * (2 * lambda_ * iterate_.values()).asDiagonal();
    const Eigen::MatrixXd small = far.transpose() * far;
    const Eigen::MatrixXd mixed = cross * scaled.transpose();
    g += mixed + mixed.transpose() + scaled * small * scaled.transpose();
    frobenius += 2 * lambda_ * std::sqrt(square_norm_);
  }
  // Rounding of the Gram matrix itself: each entry is a sum of at most max(m, n) products.
  const double unit = std::numeric_limits<double>::epsilon();
  const double gram_error = 2 * (std::max(rows_, cols_) + 10.0) * unit * frobenius * frobenius;
  double square = 0;
  if (exact) {
    square = largest_eigenvalue_bound(g);
  } else {
    const double estimate = estimate_norm(which);
    square = cholesky_bound(g, std::max(estimate * estimate, 1e-300));
  }
  return {std::sqrt(square + gram_error) + rounding_margin(stored_square),
          exact ? SpectralBound::Proof::exact : SpectralBound::Proof::cholesky, 0.0};
}

SpectralBound CpuEvaluator::lanczos_bound(Slopes which, int steps) {
  Vector start_vector = Vector::Zero(cols_);
  add_noise(start_vector, 1.0);
  const double before = counters_.passes;
  int products = 0;
  const double value = lanczos_value([&](ConstVector in, Vector& out) { normal(which, in, out); }, start_vector, steps,
                                     bound_lanczos_, &products);
  counters_.certificate_passes += counters_.passes - before;
  const double shortfall = lanczos_shortfall(cols_, products, kFailureProbability);
  if (shortfall >= 1) return {std::numeric_limits<double>::infinity(), SpectralBound::Proof::none, 0};
  const double square = (which == Slopes::current ? slope_square_ : average_square_) * largest_scale_ * largest_scale_;
  return {std::sqrt(value / (1 - shortfall)) + rounding_margin(square),
          SpectralBound::Proof::probabilistic, kFailureProbability};
}

SpectralBound CpuEvaluator::bound_norm(Slopes which, double work) {
  const bool of_columns = cols_ <= rows_;
  const double side = std::min(rows_, cols_);
  const double pass = static_cast<double>(entries());
  const double low_rank = has_low_rank_part() ? terms() * (1 + 4 * side * side / kFlopsPerEntry / pass) : 0.0;
  const double factor_passes = gram_passes(of_columns) + low_rank;
  const double exact_passes = factor_passes + 4 * side * side * side / kFlopsPerEntry / pass;
  const double cholesky_passes = factor_passes + side * side * side / 3 / kFlopsPerEntry / pass;
  constexpr double kAlwaysExact = 48;  // costs microseconds
  constexpr double kMostExact = 512;
  if (side <= kAlwaysExact || (side <= kMostExact && exact_passes <= work)) {
    return dense_bound(which, of_columns, true, exact_passes);
  }
  // The basis of a Lanczos run is kept in memory: at most 8 MB or a byte an entry, unless that would be too few steps
  // to say anything. Every step is orthogonalised against all before it, twice.
  constexpr double kLeastSteps = 60;
  const double room = std::max(8e6, pass);
  const double most = std::clamp(room / (sizeof(Real) * static_cast<double>(cols_)), kLeastSteps, 400.0);
  const double steps = std::clamp(work, kLeastSteps, most);
  const double lanczos_passes = steps + 4 * static_cast<double>(cols_) * steps * steps / kFlopsPerEntry / pass;
  if (cholesky_passes <= std::max(work, lanczos_passes)) return dense_bound(which, of_columns, false, cholesky_passes);
  return lanczos_bound(which, static_cast<int>(steps));
}

}  // namespace tracenorm
