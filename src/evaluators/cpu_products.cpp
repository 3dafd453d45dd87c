// Products with the slope matrix on the CPU, in double and in Real, and the leading singular pair made of them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.hpp"
#include "evaluators/cpu_evaluator.hpp"

namespace tracenorm {

namespace {

/// An oracle that wants more digits than this gets its products in double.
constexpr double kFastAccuracy = 1e-5;

/// A pass with a block of vectors finds as much as this many with one vector (docs/measurements.md).
constexpr int kProductsOfBlock = 2;

}  // namespace

void CpuEvaluator::add_shard_outputs(double* out) {
  for_column_blocks([&](Index from, Index size) {
    Eigen::Map<Eigen::VectorXd> sum(out + from, size);
    sum = shard_outputs_.col(0).segment(from, size);
    for (int s = 1; s < shards(); ++s) sum += shard_outputs_.col(s).segment(from, size);
  });
}

void CpuEvaluator::apply_entries(Slopes which, ConstVector v, Vector& product) {
  count_pass();
  ++counters_.products;
  product.resize(rows_);
  const double* from = times_scale(v, col_scale_);
  for_each_shard(shards(), [&](int s) { apply_shard(s, slopes(which), from, product.data()); });
  if (weighted_norm()) product.array() *= row_scale_.array();
}

void CpuEvaluator::apply_entries_transpose(Slopes which, ConstVector u, Vector& out) {
  count_pass();
  ++counters_.products;
  const double* from = times_scale(u, row_scale_);
  for_each_shard(shards(), [&](int s) {
    shard_outputs_.col(s).setZero();
    apply_transpose_shard(s, slopes(which), from, shard_outputs_.col(s).data());
  });
  out.resize(cols_);
  add_shard_outputs(out.data());
  if (weighted_norm()) out.array() *= col_scale_.array();
}

const double* CpuEvaluator::times_scale(ConstVector v, const Vector& scale) {
  if (!weighted_norm()) return v.data();
  scaled_ = v.cwiseProduct(scale);
  return scaled_.data();
}

void CpuEvaluator::apply(Slopes which, ConstVector v, Vector& product) {
  apply_entries(which, v, product);
  if (!has_low_rank_part()) return;
  add_low_rank(v, product);
}

void CpuEvaluator::apply_transpose(Slopes which, ConstVector u, Vector& out) {
  apply_entries_transpose(which, u, out);
  if (!has_low_rank_part()) return;
  add_low_rank_transpose(u, out);
}

void CpuEvaluator::add_low_rank(ConstVector v, Vector& out) {
  if (thin_) {
    thin_->add_product(2 * lambda_, v, out);
    return;
  }
  coefficients_.noalias() = iterate_.right().transpose() * v;
  coefficients_.array() *= 2 * lambda_ * iterate_.values().array();
  out.noalias() += iterate_.left() * coefficients_;
}

void CpuEvaluator::add_low_rank_transpose(ConstVector u, Vector& out) {
  if (thin_) {
    thin_->add_transpose_product(2 * lambda_, u, out);
    return;
  }
  coefficients_.noalias() = iterate_.left().transpose() * u;
  coefficients_.array() *= 2 * lambda_ * iterate_.values().array();
  out.noalias() += iterate_.right() * coefficients_;
}

double CpuEvaluator::iterate_inner(const Vector& u, const Vector& v) const {
  return thin_ ? thin_->inner(u, v) : iterate_.inner(u, v);
}

void CpuEvaluator::normal(Slopes which, ConstVector v, Vector& out) {
  count_pass();
  ++counters_.products;
  const bool low_rank = has_low_rank_part();
  if (low_rank) {  // its share of M v is known before the pass, row by row
    low_rank_shift_.setZero();
    add_low_rank(v, low_rank_shift_);
  }
  const kernels::RowTerms<double> terms{weighted_norm() ? row_scale_.data() : nullptr,
                                        low_rank ? low_rank_shift_.data() : nullptr,
                                        low_rank ? row_product_.data() : nullptr};
  const double* from = times_scale(v, col_scale_);
  for_each_shard(shards(), [&](int s) {
    shard_outputs_.col(s).setZero();
    normal_shard(s, slopes(which), from, terms, shard_outputs_.col(s).data());
  });
  out.resize(cols_);
  add_shard_outputs(out.data());
  if (weighted_norm()) out.array() *= col_scale_.array();
  if (!low_rank) return;
  add_low_rank_transpose(row_product_, out);
}

double CpuEvaluator::fast_size(Slopes which) const {
  const double square = which == Slopes::current ? slope_square_ : average_square_;
  return square > 0 && std::isfinite(square) ? largest_scale_ * std::sqrt(square) : 1.0;
}

kernels::RowTerms<Real> CpuEvaluator::begin_fast(double size, const RealBlock& v, RealBlock& product) {
  fast_block_ = v * Real(1 / size);
  product.resize(rows_, v.cols());
  if (weighted_norm()) {
    if (fast_col_scale_.size() == 0) {
      fast_col_scale_.resize(cols_);
      for (Index j = 0; j < cols_; ++j) fast_col_scale_[j] = Real(col_scale_[natural(j)]);
    }
    fast_block_.array().colwise() *= fast_col_scale_.array();
    return {fast_row_scale_.data(), nullptr, product.data()};
  }
  if (!has_low_rank_part()) return {nullptr, nullptr, product.data()};
  fast_shift_.resize(rows_, v.cols());
  scaled_.resize(cols_);
  for (Eigen::Index c = 0; c < v.cols(); ++c) {
    for (Index j = 0; j < cols_; ++j) scaled_[natural(j)] = double(v(j, c));
    low_rank_shift_.setZero();
    add_low_rank(scaled_, low_rank_shift_);
    fast_shift_.col(c) = (low_rank_shift_ / size).cast<Real>();
  }
  return {nullptr, fast_shift_.data(), product.data()};
}

void CpuEvaluator::end_fast(double size, RealBlock& out, const RealBlock& product) {
  const Eigen::Index width = product.cols();
  out.resize(cols_, width);
  for_column_blocks([&](Index from, Index count) {
    Eigen::Map<RealVector> sum(out.data() + from * width, count * width);
    sum = fast_outputs_.col(0).segment(from * width, count * width);
    for (int s = 1; s < shards(); ++s) sum += fast_outputs_.col(s).segment(from * width, count * width);
    sum *= Real(1 / size);
    if (weighted_norm()) out.middleRows(from, count).array().colwise() *= fast_col_scale_.segment(from, count).array();
  });
  if (!has_low_rank_part()) return;
  scaled_.resize(cols_);
  for (Eigen::Index c = 0; c < width; ++c) {
    row_product_ = product.col(c).cast<double>();
    scaled_.setZero();
    add_low_rank_transpose(row_product_, scaled_);
    for (Index j = 0; j < cols_; ++j) out(j, c) += Real(scaled_[natural(j)] / size);
  }
}

void CpuEvaluator::normal_fast(Slopes which, double size, const RealBlock& v, RealBlock& out, RealBlock& product) {
  const auto width = static_cast<Index>(v.cols());
  count_pass(1 + block_cost(width));
  counters_.products += width;
  const kernels::RowTerms<Real> terms = begin_fast(size, v, product);
  for_each_shard(shards(), [&](int s) {
    fast_outputs_.col(s).setZero();
    normal_fast_rows(cuts_[static_cast<std::size_t>(s)], cuts_[static_cast<std::size_t>(s) + 1], slopes(which),
                     fast_block_.data(), width, terms, fast_outputs_.col(s).data());
  });
  end_fast(size, out, product);
}

void CpuEvaluator::add_noise(Vector& v, double size) {
  const double each = size / std::sqrt(static_cast<double>(v.size()));
  for (Eigen::Index j = 0; j < v.size(); ++j) v[j] += each * random_.normal();
}

void CpuEvaluator::draw_start(RealBlock& block, Index width) {
  // A warm start alone can miss a new leading direction that it is orthogonal to; a little noise cannot.
  const bool warm = block.size() > 0;
  if (!warm) block.setZero(cols_, width);
  const Real each = Real((warm ? kStartNoise : 1.0) / std::sqrt(static_cast<double>(cols_)));
  for (Real& x : block.reshaped()) x += each * Real(random_.spread());
  detail::orthonormalize(block);
}

void CpuEvaluator::find_fast(const OracleAccuracy& accuracy) {
  const Index width = fast_width();
  bool first_known = std::exchange(first_product_, FirstProduct::wanted) == FirstProduct::ready;
  if (!first_known) {
    draw_start(start_, width);
    first_size_ = fast_size(Slopes::current);
  }
  // A single pass could only choose among what is known already.
  const int most = width == 1 ? accuracy.products : std::max(2, accuracy.products / kProductsOfBlock);
  const KrylovResult found = krylov_.leading(
      [&](int j, const RealBlock& q, RealBlock& out) {
        if (std::exchange(first_known, false)) {
          out.swap(first_out_);
        } else {
          normal_fast(Slopes::current, first_size_, q, out, row_products_[static_cast<std::size_t>(j)]);
        }
      },
      start_, accuracy.relative, most);
  leading_.products = found.applications * width;
  // v is a combination of vectors whose products are known.
  Vector& u = leading_.atom.left;
  Vector& v = leading_.atom.right;
  u.setZero();
  v.setZero();
  for (int j = 0; j < found.blocks; ++j) {
    const double* weights = found.weights.data() + j * width;
    const RealBlock& q = krylov_.block(j);
    const RealBlock& product = row_products_[static_cast<std::size_t>(j)];
    for (Index r = 0; r < cols_; ++r) {
      for (Index k = 0; k < width; ++k) v[natural(r)] += weights[k] * double(q(r, k));
    }
    for (Index r = 0; r < rows_; ++r) {
      for (Index k = 0; k < width; ++k) u[r] += weights[k] * double(product(r, k));
    }
  }
  u *= first_size_;
}

void CpuEvaluator::find_exactly(const OracleAccuracy& accuracy) {
  first_product_ = FirstProduct::unwanted;
  Vector& v = leading_.atom.right;
  add_noise(v, v.isZero(0) ? 1.0 : kStartNoise);
  const LanczosResult lanczos = lanczos_leading([&](ConstVector in, Vector& out) { normal(Slopes::current, in, out); },
                                                v, accuracy.relative, accuracy.products, lanczos_);
  apply(Slopes::current, v, leading_.atom.left);
  leading_.products = lanczos.products + 1;
}

const LeadingAtom& CpuEvaluator::leading_atom(const OracleAccuracy& accuracy) {
  accuracy.relative >= kFastAccuracy ? find_fast(accuracy) : find_exactly(accuracy);
  Vector& u = leading_.atom.left;
  Vector& v = leading_.atom.right;
  const double length = v.norm();
  leading_.sigma = length == 0 ? 0.0 : u.norm() / length;
  if (leading_.sigma != 0) {  // or is not a number: then nothing else shall be one
    u *= 1 / u.norm();
    v *= 1 / length;
  } else {  // a zero slope matrix: every atom is as good as any other
    u.setZero();
    u[0] = 1;
    v.setZero();
    v[0] = 1;
  }
  leading_.atom.weight = -radius_;
  return leading_;
}

void CpuEvaluator::apply_block(const Eigen::MatrixXd& block, Eigen::MatrixXd& out) {
  out.resize(rows_, block.cols());
  Vector column;
  for (Eigen::Index c = 0; c < block.cols(); ++c) {
    apply(Slopes::current, block.col(c), column);
    out.col(c) = column;
  }
}

void CpuEvaluator::apply_transpose_block(const Eigen::MatrixXd& block, Eigen::MatrixXd& out) {
  out.resize(cols_, block.cols());
  Vector column;
  for (Eigen::Index c = 0; c < block.cols(); ++c) {
    apply_transpose(Slopes::current, block.col(c), column);
    out.col(c) = column;
  }
}

}  // namespace tracenorm
