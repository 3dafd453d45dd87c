// Full rows, for penalties and data that leave no entry out. Memory per entry (Real = float): datum (NaN = missing) 4,
// iterate 4, slope 4, average 4, and where the data are few levels (links, labels, ratings) their code 1: then no pass
// of an iteration reads more than 5 bytes an entry.
#include <algorithm>

#include "cpu/layout.hpp"
#include "cpu/panels.hpp"
#include "linalg/lapack.hpp"

namespace tracenorm::cpu {

namespace {

constexpr Index kFactorRows = 64;

class DenseLayout final : public Layout {
 public:
  DenseLayout(Index rows, Index cols, const Real* kink_mask) : Layout(rows, cols), kink_mask_(kink_mask) {}

  [[nodiscard]] Offset row_begin(Index row) const override { return static_cast<Offset>(row) * cols_; }
  [[nodiscard]] const Offset* row_begins() const override { return nullptr; }

  void apply(RowRange r, const Real* m, const double* v, double* product) const override {
    kernels::linear_kernels().dense_apply(dense_rows(r, m), v, product);
  }

  void apply_transpose(RowRange r, const Real* m, const double* u, double* out) const override {
    kernels::linear_kernels().dense_apply_transpose(dense_rows(r, m), u, out);
  }

  void apply_block(RowRange r, const Real* m, const double* block, Index vectors, double* out) const override {
    kernels::linear_kernels().dense_apply_block(dense_rows(r, m), block, vectors, out);
  }

  void normal(RowRange r, const Real* m, const double* v, const kernels::RowTerms<double>& terms,
              double* out) const override {
    kernels::linear_kernels().dense_normal(dense_rows(r, m), v, terms, out);
  }

  void normal(RowRange r, const Real* m, const Real* v, Index /*vectors*/, const kernels::RowTerms<Real>& terms,
              Real* out) const override {
    kernels::linear_kernels().dense_normal_fast(dense_rows(r, m), v, terms, out);
  }

  [[nodiscard]] Index search_columns() const override { return 1; }  // four would cost more than twice as much as one

  double move(RowRange r, Real* x, const double* u, const Real* v, double t) const override {
    return kernels::linear_kernels().dense_move(dense_rows(r, nullptr), x, kink_mask_, u, v, t);
  }

  void sample(Offset from, Offset to, const double* u, const double* v, Real* out) const override {
    while (from < to) {
      const auto row = static_cast<Index>(from / cols_);
      const auto first = static_cast<Index>(from % cols_);
      const auto last = static_cast<Index>(std::min<Offset>(cols_, first + to - from));
      for (Index j = first; j < last; ++j) *out++ = Real(u[row] * v[j]);
      from += last - first;
    }
  }

  void load(RowRange r, const ExactFactors& f, double* x, double* error) const override {
    for (Index i = r.first; i < r.last; i += kFactorRows) {
      const Index count = std::min<Index>(r.last - i, kFactorRows);
      const Eigen::MatrixXd block = f.left.middleRows(i, count) * f.values.asDiagonal() * f.right.transpose();
      for (Index k = 0; k < count; ++k) {
        for (Index j = 0; j < cols_; ++j) *x++ = block(k, j);
        if (error == nullptr) continue;
        for (Index j = 0; j < cols_; ++j) *error++ = f.left_error[i + k] * f.right_error[j];
      }
    }
  }

  void factor_entries(Offset from, Offset to, const FactorRows& at, Real scale, Real* x) const override {
    const auto first = static_cast<Index>(from / cols_);
    const auto count = static_cast<Index>((to - from) / cols_);
    lapack::gemm_rows(lapack::Shape::plain, lapack::Shape::transposed, count, cols_, at.columns, scale,
                      at.left + static_cast<Offset>(first) * at.columns, at.columns, at.right, at.columns, 0, x, cols_);
  }

  void factor_products(Offset from, Offset to, const Real* m, const FactorRows& at, Real* left,
                       Real* right) const override {
    const auto first = static_cast<Index>(from / cols_);
    const auto count = static_cast<Index>((to - from) / cols_);
    const Offset place = static_cast<Offset>(first) * at.columns;
    lapack::gemm_rows(lapack::Shape::plain, lapack::Shape::plain, count, at.columns, cols_, 1, m, cols_, at.right,
                      at.columns, 1, left + place, at.columns);
    lapack::gemm_rows(lapack::Shape::transposed, lapack::Shape::plain, cols_, at.columns, count, 1, m, cols_,
                      at.left + place, at.columns, 1, right, at.columns);
  }

  [[nodiscard]] Offset factor_block() const override { return row_begin(kFactorRows); }

  void scale(RowRange r, const double* u, const double* v, Real* m) const override {
    m += row_begin(r.first);
    for (Index i = r.first; i < r.last; ++i) {
      for (Index j = 0; j < cols_; ++j, ++m) *m = Real(u[i] * double(*m) * v[j]);
    }
  }

  [[nodiscard]] Eigen::MatrixXd gram(const Real* m, Side side) const override {
    const bool of_columns = side == Side::right;
    const Index length = of_columns ? cols_ : rows_;
    const Index depth = of_columns ? rows_ : cols_;
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(length, length);
    constexpr Index block = 128;
    Eigen::MatrixXd part(length, block);  // rows of M, or columns, in double
    for (Index from = 0; from < depth; from += block) {
      const Index size = std::min<Index>(block, depth - from);
      if (of_columns) {
        for (Index k = 0; k < size; ++k) {
          const Real* row = m + row_begin(from + k);
          for (Index j = 0; j < cols_; ++j) part(j, k) = double(row[j]);
        }
      } else {
        for (Index i = 0; i < rows_; ++i) {
          const Real* row = m + row_begin(i) + from;
          for (Index k = 0; k < size; ++k) part(i, k) = double(row[k]);
        }
      }
      lapack::add_square(lapack::Shape::plain, length, size, part.data(), length, 1.0, out.data());
    }
    out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
    return out;
  }

  [[nodiscard]] WorkModel work() const override {
    constexpr double operations = 20;  // BLAS does about twenty multiply-adds in the time of an entry
    return {0, rows_ / operations, cols_ / operations, operations};
  }

 private:
  [[nodiscard]] kernels::DenseRows dense_rows(RowRange r, const Real* m) const { return {m, cols_, r.first, r.last}; }

  const Real* kink_mask_;  // null when every entry has a kink
};

}  // namespace

std::unique_ptr<Layout> make_dense_layout(Index rows, Index cols, const Real* kink_mask) {
  return std::make_unique<DenseLayout>(rows, cols, kink_mask);
}

}  // namespace tracenorm::cpu
