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

void CpuEvaluator::load_fast_vector(ConstVector v, double factor) {
  fast_v_.resize(cols_);
  if (column_order_.empty()) {
    fast_v_ = (factor * v).cast<Real>();
    return;
  }
  for (Index j = 0; j < cols_; ++j) fast_v_[j] = Real(factor * v[column_order_[static_cast<std::size_t>(j)]]);
}

CpuEvaluator::FastProduct CpuEvaluator::begin_fast(Slopes which, ConstVector v, RealVector& product) {
  // M v / |M|_F is at most one: neither it nor M'M v / |M|_F can leave the range of Real.
  const double square = which == Slopes::current ? slope_square_ : average_square_;
  const double size = square > 0 && std::isfinite(square) ? largest_scale_ * std::sqrt(square) : 1.0;
  if (weighted_norm()) {
    scaled_ = v.cwiseProduct(col_scale_);
    load_fast_vector(scaled_, 1 / size);
    return {{fast_row_scale_.data(), nullptr, product.data()}, size};
  }
  load_fast_vector(v, 1 / size);
  if (!has_low_rank_part()) return {{nullptr, nullptr, product.data()}, size};
  low_rank_shift_.setZero();
  add_low_rank(v, low_rank_shift_);
  fast_shift_ = (low_rank_shift_ / size).cast<Real>();
  return {{nullptr, fast_shift_.data(), product.data()}, size};
}

void CpuEvaluator::end_fast(const FastProduct& pass, Vector& out, RealVector& product) {
  product *= Real(pass.size);
  out.resize(cols_);
  for_column_blocks([&](Index from, Index count) {
    Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kColumnBlock, 1> sum =
        fast_outputs_.col(0).segment(from, count).cast<double>();
    for (int s = 1; s < shards(); ++s) sum += fast_outputs_.col(s).segment(from, count).cast<double>();
    sum *= pass.size;
    for (Index j = 0; j < count; ++j) {
      out[column_order_.empty() ? from + j : column_order_[static_cast<std::size_t>(from + j)]] = sum[j];
    }
  });
  if (weighted_norm()) out.array() *= col_scale_.array();
  if (!has_low_rank_part()) return;
  row_product_ = product.cast<double>();
  add_low_rank_transpose(row_product_, out);
}

void CpuEvaluator::normal_fast(Slopes which, ConstVector v, Vector& out, RealVector& product) {
  count_pass();
  ++counters_.products;
  const FastProduct pass = begin_fast(which, v, product);
  for_each_shard(shards(), [&](int s) {
    fast_outputs_.col(s).setZero();
    normal_fast_rows(cuts_[static_cast<std::size_t>(s)], cuts_[static_cast<std::size_t>(s) + 1], slopes(which),
                     fast_v_.data(), pass.terms, fast_outputs_.col(s).data());
  });
  end_fast(pass, out, product);
}

void CpuEvaluator::add_noise(Vector& v, double size) {
  const double each = size / std::sqrt(static_cast<double>(v.size()));
  for (Eigen::Index j = 0; j < v.size(); ++j) v[j] += each * random_.normal();
}

void CpuEvaluator::draw_start(Vector& v) {
  // A warm start alone can miss a new leading direction that it is orthogonal to; a little noise cannot.
  add_noise(v, v.isZero(0) ? 1.0 : kStartNoise);
  v.normalize();
}

const LeadingAtom& CpuEvaluator::leading_atom(const OracleAccuracy& accuracy) {
  Vector& v = leading_.atom.right;
  const bool fast = accuracy.relative >= kFastAccuracy;
  bool first_known = fast && first_product_ == FirstProduct::ready;
  first_product_ = FirstProduct::wanted;  // whoever asked once will ask again
  if (first_known) {
    v = start_;
  } else {
    draw_start(v);
  }
  const LanczosResult lanczos = lanczos_leading(
      [&](int step, ConstVector in, Vector& out) {
        if (std::exchange(first_known, false)) {
          out = first_out_;
        } else if (fast) {
          normal_fast(Slopes::current, in, out, row_products_[static_cast<std::size_t>(step)]);
        } else {
          normal(Slopes::current, in, out);
        }
      },
      v, accuracy.relative, accuracy.products, lanczos_);
  leading_.products = lanczos.products;
  Vector& u = leading_.atom.left;
  if (fast) {  // v is a combination of vectors whose products are known
    u.setZero();
    for (int j = 0; j < lanczos.size; ++j) {
      u += lanczos_.ritz[j] * row_products_[static_cast<std::size_t>(j)].cast<double>();
    }
    u /= v.norm();
    v.normalize();
  } else {
    v.normalize();
    apply(Slopes::current, v, u);
    ++leading_.products;
  }
  leading_.sigma = u.norm();
  if (leading_.sigma > 0) {
    u /= leading_.sigma;
  } else {  // a zero slope matrix: every atom is as good as any other
    u.setZero();
    u[0] = 1;
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
