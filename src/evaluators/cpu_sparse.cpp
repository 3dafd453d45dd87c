#include "evaluators/cpu_sparse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/entry_functions.hpp"

namespace tracenorm {

namespace {

/// out += sum over rows of r r' for sparse rows r: the Gram matrix of the columns. Lower triangle first, then mirrored.
template <class Columns>
void add_row_squares(Index rows, const Offset* begin, const Columns& col, const Real* m, Eigen::MatrixXd& out) {
  for (Index i = 0; i < rows; ++i) {
    for (Offset a = begin[i]; a < begin[i + 1]; ++a) {
      const double value = double(m[a]);
      double* column = out.data() + static_cast<Offset>(col[a]) * out.rows();
      for (Offset b = a; b < begin[i + 1]; ++b) column[col[b]] += value * double(m[b]);
    }
  }
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
}

}  // namespace

CpuSparseEvaluator::CpuSparseEvaluator(const Problem& problem, const SparseObservations& data, std::uint64_t seed)
    : CpuEvaluator(problem, data.pattern.rows(), data.pattern.cols(), seed), data_(data) {
  const SparsePattern& pattern = data.pattern;
  start(sparse_mode(problem.penalty), data.value.data(), data.weight.empty() ? nullptr : data.weight.data(),
        pattern.begin());
  std::vector<Offset> per_column(static_cast<std::size_t>(pattern.cols()), 0);
  for (Offset e = 0; e < pattern.entries(); ++e) ++per_column[static_cast<std::size_t>(pattern.col()[e])];
  for (const Offset count : per_column) col_squares_ += static_cast<double>(count) * static_cast<double>(count);
  for (Index i = 0; i < pattern.rows(); ++i) {
    const auto count = static_cast<double>(pattern.begin()[i + 1] - pattern.begin()[i]);
    row_squares_ += count * count;
  }
  rank_columns(per_column);
}

void CpuSparseEvaluator::rank_columns(const std::vector<Offset>& per_column) {
  if (cols_ > std::numeric_limits<ShortIndex>::max() + 1) return;
  const SparsePattern& pattern = data_.pattern;
  column_order_.resize(per_column.size());
  std::iota(column_order_.begin(), column_order_.end(), 0);
  std::stable_sort(column_order_.begin(), column_order_.end(), [&](Index a, Index b) {
    return per_column[static_cast<std::size_t>(a)] > per_column[static_cast<std::size_t>(b)];
  });
  std::vector<ShortIndex> rank(per_column.size());
  for (std::size_t k = 0; k < rank.size(); ++k) {
    rank[static_cast<std::size_t>(column_order_[k])] = static_cast<ShortIndex>(k);
  }
  ranked_col_.resize(static_cast<std::size_t>(pattern.entries()));
  for (std::size_t e = 0; e < ranked_col_.size(); ++e)
    ranked_col_[e] = rank[static_cast<std::size_t>(pattern.col()[e])];
}

template <class Column>
kernels::RowsOf<Column> CpuSparseEvaluator::rows_of(int shard, const Column* col, const Real* m) const {
  return {data_.pattern.begin(), col, m, cuts_[static_cast<std::size_t>(shard)],
          cuts_[static_cast<std::size_t>(shard) + 1]};
}

template <class Work>
decltype(auto) CpuSparseEvaluator::visit_rows(int shard, const Real* m, Work&& work) const {
  return data_.pattern.col().visit([&]<class Column>(const Column* col) {
    return work(rows_of(shard, col, m), kernels::linear_kernels().sparse<Column>());
  });
}

void CpuSparseEvaluator::apply_shard(int shard, const Real* m, const double* v, double* product) const {
  visit_rows(shard, m, [&](const auto& rows, const auto& kernel) { kernel.apply(rows, v, product); });
}

void CpuSparseEvaluator::apply_transpose_shard(int shard, const Real* m, const double* u, double* out) const {
  visit_rows(shard, m, [&](const auto& rows, const auto& kernel) { kernel.apply_transpose(rows, u, out); });
}

void CpuSparseEvaluator::normal_shard(int shard, const Real* m, const double* v, const kernels::RowTerms<double>& terms,
                                      double* out) const {
  visit_rows(shard, m, [&](const auto& rows, const auto& kernel) { kernel.normal(rows, v, terms, out); });
}

void CpuSparseEvaluator::normal_fast_rows(Index first, Index last, const Real* m, const Real* v, Index width,
                                          const kernels::RowTerms<Real>& terms, Real* out) const {
  const auto multiply = [&]<class Column>(const Column* col) {
    const kernels::SparseKernels<Column>& kernel = kernels::linear_kernels().sparse<Column>();
    (width == 1 ? kernel.normal_fast : kernel.normal_block)({data_.pattern.begin(), col, m, first, last}, v, terms,
                                                            out);
  };
  ranked_col_.empty() ? data_.pattern.col().visit(multiply) : multiply(ranked_col_.data());
}

Index CpuSparseEvaluator::fast_width() const { return kernels::kBlockWidth; }

void CpuSparseEvaluator::apply_block_shard(int shard, const Real* m, const double* block, Index width,
                                           double* out) const {
  visit_rows(shard, m, [&](const auto& rows, const auto& kernel) { kernel.apply_block(rows, block, width, out); });
}

double CpuSparseEvaluator::move_shard(int shard, const double* u, const Real* v, double t) {
  if (!ranked_col_.empty()) {
    return kernels::linear_kernels().narrow.move(rows_of(shard, ranked_col_.data(), nullptr), x_.data(), u, v, t);
  }
  return visit_rows(shard, nullptr,
                    [&](const auto& rows, const auto& kernel) { return kernel.move(rows, x_.data(), u, v, t); });
}

void CpuSparseEvaluator::sample_entries(Offset from, Offset to, const double* u, const double* v, Real* target) const {
  data_.pattern.col().visit([&](const auto* col) {
    for_row_parts(from, to, [&](Index row, Offset first, Offset last) {
      for (Offset e = first; e < last; ++e) target[e - from] = Real(u[row] * v[col[e]]);
    });
  });
}

void CpuSparseEvaluator::load_shard(int shard, const LowRankMatrix& factors, Real* x) const {
  Eigen::VectorXd row_left(factors.terms());
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> right = factors.right();
  visit_rows(shard, nullptr, [&](const auto& r, const auto&) {
    const Offset base = r.begin[r.first];
    for (Index i = r.first; i < r.last; ++i) {
      row_left = factors.left().row(i).transpose().cwiseProduct(factors.values());
      for (Offset e = r.begin[i]; e < r.begin[i + 1]; ++e) x[e - base] = Real(right.row(r.col[e]).dot(row_left));
    }
  });
}

void CpuSparseEvaluator::scale_shard(int shard, const Real* m, const double* u, const double* v, Real* out) const {
  visit_rows(shard, m, [&](const auto& r, const auto&) {
    const Offset base = r.begin[r.first];
    for (Index i = r.first; i < r.last; ++i) {
      for (Offset e = r.begin[i]; e < r.begin[i + 1]; ++e) {
        out[e - base] = Real(u[i] * double(m[e - base]) * v[r.col[e]]);
      }
    }
  });
}

double CpuSparseEvaluator::scaled_square(int shard, const Real* m, const double* u, const double* v) const {
  double sum = 0;
  visit_rows(shard, m, [&](const auto& r, const auto&) {
    for (Index i = r.first; i < r.last; ++i) {
      double row = 0;
      for (Offset e = r.begin[i]; e < r.begin[i + 1]; ++e) row += std::pow(double(m[e]) * v[r.col[e]], 2);
      sum += u[i] * u[i] * row;
    }
  });
  return sum;
}

template <class Work>
void CpuSparseEvaluator::for_row_parts(Offset from, Offset to, Work&& work) const {
  const Offset* begin = data_.pattern.begin();
  auto row = static_cast<Index>(std::upper_bound(begin, begin + rows_ + 1, from) - begin) - 1;
  for (; from < to; ++row) {
    const Offset last = std::min(to, begin[row + 1]);
    work(row, from, last);
    from = last;
  }
}

void CpuSparseEvaluator::factor_entries(Offset from, Offset to, const Factors& at, Real scale, Real* x) const {
  const Index width = at.width();
  const Real* left = at.left().data();
  const Real* right = at.right().data();
  data_.pattern.col().visit([&]<class Column>(const Column* col) {
    const auto dots = kernels::linear_kernels().sparse<Column>().factor_dots;
    for_row_parts(from, to, [&](Index row, Offset first, Offset last) {
      dots(col + first, last - first, left + static_cast<Offset>(row) * width, right, width, x + (first - from));
    });
  });
  for (Offset e = 0; e < to - from; ++e) x[e] *= scale;
}

void CpuSparseEvaluator::factor_products(Offset from, Offset to, const Real* m, const Factors& at, Real* left,
                                         Real* right) const {
  const Index width = at.width();
  const Real* at_left = at.left().data();
  const Real* at_right = at.right().data();
  data_.pattern.col().visit([&]<class Column>(const Column* col) {
    const auto products = kernels::linear_kernels().sparse<Column>().factor_products;
    for_row_parts(from, to, [&](Index row, Offset first, Offset last) {
      const Offset place = static_cast<Offset>(row) * width;
      products(col + first, m + (first - from), last - first, at_left + place, at_right, width, left + place, right);
    });
  });
}

Offset CpuSparseEvaluator::factor_block() const {
  return 256;  // the rows of the right factor that they meet stay in the second cache
}

Offset CpuSparseEvaluator::row_begin(Index row) const { return data_.pattern.begin()[row]; }

double CpuSparseEvaluator::gram_passes(bool of_columns) const {
  return (of_columns ? row_squares_ : col_squares_) / static_cast<double>(entries());
}

void CpuSparseEvaluator::gram(const Real* m, bool of_columns, Eigen::MatrixXd& out) const {
  const SparsePattern& pattern = data_.pattern;
  if (of_columns) {
    out.setZero(cols_, cols_);
    add_row_squares(rows_, pattern.begin(), pattern.col(), m, out);
    return;
  }
  // The transpose, for the time of this call.
  std::vector<Offset> begin(static_cast<std::size_t>(cols_) + 1, 0);
  for (Offset e = 0; e < pattern.entries(); ++e) ++begin[static_cast<std::size_t>(pattern.col()[e]) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Offset> place(begin.begin(), begin.end() - 1);
  std::vector<Index> row(static_cast<std::size_t>(pattern.entries()));
  std::vector<Real> value(row.size());
  for (Index i = 0; i < rows_; ++i) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      const auto to = static_cast<std::size_t>(place[static_cast<std::size_t>(pattern.col()[e])]++);
      row[to] = i;
      value[to] = m[e];
    }
  }
  out.setZero(rows_, rows_);
  add_row_squares(cols_, begin.data(), row.data(), value.data(), out);
}

}  // namespace tracenorm
