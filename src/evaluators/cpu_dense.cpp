#include "evaluators/cpu_dense.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "linalg/blas.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm {

CpuDenseEvaluator::CpuDenseEvaluator(const Problem& problem, const DenseObservations& data, std::uint64_t seed)
    : CpuEvaluator(problem, data.rows, data.cols, seed) {
  start(dense_mode(problem.penalty), data.value.data(), data.weight.empty() ? nullptr : data.weight.data(), nullptr);
  // With an l1 penalty every entry has a kink (at zero); otherwise only observed ones can.
  if (mode_ != kernels::Mode::masked_l1) kink_mask_ = data.value.data();
  code_data(data.value);
}

void CpuDenseEvaluator::code_data(const Array<Real>& value) {
  constexpr std::size_t most = 128;  // codes 0 to 127
  std::vector<Real> levels;          // the different values, ascending
  Real last = std::numeric_limits<Real>::quiet_NaN();
  for (const Real y : value) {
    if (y == last || std::isnan(y)) continue;
    last = y;
    const auto place = std::lower_bound(levels.begin(), levels.end(), y);
    if (place != levels.end() && *place == y) continue;
    if (levels.size() == most) return;
    levels.insert(place, y);
  }
  if (levels.empty()) return;
  Real scale = 1;
  for (std::size_t k = 1; k < levels.size(); ++k) {
    scale = k == 1 ? levels[k] - levels[k - 1] : std::min(scale, levels[k] - levels[k - 1]);
  }
  const auto code_of = [&](Real y) { return std::nearbyint((double(y) - double(levels[0])) / double(scale)); };
  for (const Real y : levels) {  // every product and sum must be exact, with and without fused multiply-add
    const double code = code_of(y);
    const double product = double(scale) * code;
    if (code >= double(most) || double(Real(product)) != product || product + double(levels[0]) != double(y)) return;
  }
  code_.resize(value.size());
  for (std::size_t e = 0; e < value.size(); ++e) {
    code_[e] = std::isnan(value[e]) ? kernels::CodedData::kMissing : static_cast<std::int8_t>(code_of(value[e]));
  }
  coded_ = {code_.data(), levels[0], scale};
}

CpuDenseEvaluator::CpuDenseEvaluator(const Problem& problem, std::unique_ptr<DenseObservations> data,
                                     std::uint64_t seed)
    : CpuDenseEvaluator(problem, *data, seed) {
  owned_ = std::move(data);
}

kernels::DenseRows CpuDenseEvaluator::dense_rows(int shard, const Real* m) const {
  return {m, cols_, cuts_[static_cast<std::size_t>(shard)], cuts_[static_cast<std::size_t>(shard) + 1]};
}

void CpuDenseEvaluator::apply_shard(int shard, const Real* m, const double* v, double* product) const {
  kernels::linear_kernels().dense_apply(dense_rows(shard, m), v, product);
}

void CpuDenseEvaluator::apply_transpose_shard(int shard, const Real* m, const double* u, double* out) const {
  kernels::linear_kernels().dense_apply_transpose(dense_rows(shard, m), u, out);
}

void CpuDenseEvaluator::normal_shard(int shard, const Real* m, const double* v, const kernels::RowTerms<double>& terms,
                                     double* out) const {
  kernels::linear_kernels().dense_normal(dense_rows(shard, m), v, terms, out);
}

void CpuDenseEvaluator::normal_fast_rows(Index first, Index last, const Real* m, const Real* v, Index /*width*/,
                                         const kernels::RowTerms<Real>& terms, Real* out) const {
  kernels::linear_kernels().dense_normal_fast({m, cols_, first, last}, v, terms, out);
}

Index CpuDenseEvaluator::fast_width() const { return 1; }  // four vectors would cost more than twice as much as one

void CpuDenseEvaluator::apply_block_shard(int shard, const Real* m, const double* block, Index width,
                                          double* out) const {
  kernels::linear_kernels().dense_apply_block(dense_rows(shard, m), block, width, out);
}

double CpuDenseEvaluator::move_shard(int shard, const double* u, const Real* v, double t) {
  return kernels::linear_kernels().dense_move(dense_rows(shard, nullptr), x_.data(), kink_mask_, u, v, t);
}

void CpuDenseEvaluator::sample_entries(Offset from, Offset to, const double* u, const double* v, Real* target) const {
  while (from < to) {
    const auto row = static_cast<Index>(from / cols_);
    const auto first = static_cast<Index>(from % cols_);
    const auto last = static_cast<Index>(std::min<Offset>(cols_, first + to - from));
    for (Index j = first; j < last; ++j) *target++ = Real(u[row] * v[j]);
    from += last - first;
  }
}

void CpuDenseEvaluator::load_shard(int shard, const LowRankMatrix& factors, Real* x) const {
  const kernels::DenseRows r = dense_rows(shard, nullptr);
  constexpr Index block = 64;
  for (Index i = r.first; i < r.last; i += block) {
    const Index to = std::min<Index>(r.last, i + block);
    const Eigen::MatrixXd rows_block = factors.dense_rows(i, to);
    for (Index k = 0; k < to - i; ++k) {
      for (Index j = 0; j < cols_; ++j) *x++ = Real(rows_block(k, j));
    }
  }
}

void CpuDenseEvaluator::scale_shard(int shard, const Real* m, const double* u, const double* v, Real* out) const {
  const kernels::DenseRows r = dense_rows(shard, nullptr);
  for (Index i = r.first; i < r.last; ++i) {
    for (Index j = 0; j < cols_; ++j) *out++ = Real(u[i] * double(*m++) * v[j]);
  }
}

double CpuDenseEvaluator::scaled_square(int shard, const Real* m, const double* u, const double* v) const {
  const kernels::DenseRows r = dense_rows(shard, m);
  double sum = 0;
  for (Index i = r.first; i < r.last; ++i) {
    const Real* value = m + row_begin(i);
    double row = 0;
    for (Index j = 0; j < cols_; ++j) row += std::pow(double(value[j]) * v[j], 2);
    sum += u[i] * u[i] * row;
  }
  return sum;
}

void CpuDenseEvaluator::factor_entries(Offset from, Offset to, const Factors& at, Real scale, Real* x) const {
  const auto first = static_cast<Index>(from / cols_);
  const auto count = static_cast<Index>((to - from) / cols_);
  const Index width = at.width();
  blas::gemm(blas::Shape::plain, blas::Shape::transposed, count, cols_, width, scale,
             at.left().data() + static_cast<Offset>(first) * width, width, at.right().data(), width, 0, x, cols_);
}

void CpuDenseEvaluator::factor_products(Offset from, Offset to, const Real* m, const Factors& at, Real* left,
                                        Real* right) const {
  const auto first = static_cast<Index>(from / cols_);
  const auto count = static_cast<Index>((to - from) / cols_);
  const Index width = at.width();
  const Offset place = static_cast<Offset>(first) * width;
  blas::gemm(blas::Shape::plain, blas::Shape::plain, count, width, cols_, 1, m, cols_, at.right().data(), width, 1,
             left + place, width);
  blas::gemm(blas::Shape::transposed, blas::Shape::plain, cols_, width, count, 1, m, cols_, at.left().data() + place,
             width, 1, right, width);
}

Offset CpuDenseEvaluator::factor_block() const {
  constexpr Index rows_at_once = 64;
  return static_cast<Offset>(rows_at_once) * cols_;
}

Offset CpuDenseEvaluator::row_begin(Index row) const { return static_cast<Offset>(row) * cols_; }

double CpuDenseEvaluator::gram_passes(bool of_columns) const { return (of_columns ? cols_ : rows_) / kFlopsPerEntry; }

void CpuDenseEvaluator::gram(const Real* m, bool of_columns, Eigen::MatrixXd& out) const {
  openblas_set_num_threads(1);  // the bits must not depend on the number of threads
  const Index side = of_columns ? cols_ : rows_;
  out.setZero(side, side);
  constexpr Index block = 128;
  if (of_columns) {
    Eigen::MatrixXd wide(cols_, block);  // columns hold rows of M
    for (Index i = 0; i < rows_; i += block) {
      const Index size = std::min<Index>(block, rows_ - i);
      for (Index k = 0; k < size; ++k) {
        const Real* row = m + static_cast<Offset>(i + k) * cols_;
        for (Index j = 0; j < cols_; ++j) wide(j, k) = double(row[j]);
      }
      cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, side, size, 1.0, wide.data(), side, 1.0, out.data(), side);
    }
  } else {
    Eigen::MatrixXd tall(rows_, block);
    for (Index j = 0; j < cols_; j += block) {
      const Index size = std::min<Index>(block, cols_ - j);
      for (Index i = 0; i < rows_; ++i) {
        const Real* row = m + static_cast<Offset>(i) * cols_ + j;
        for (Index k = 0; k < size; ++k) tall(i, k) = double(row[k]);
      }
      cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, side, size, 1.0, tall.data(), side, 1.0, out.data(), side);
    }
  }
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
}

}  // namespace tracenorm
