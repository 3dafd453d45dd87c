// Full rows, for penalties and data that leave no entry out. Memory per entry (Real = float): datum (NaN = missing) 4,
// iterate 4, slope 4, average 4, and where the data are few levels (links, labels, ratings) their code 1: then no pass
// of an iteration reads more than 5 bytes an entry.
//
// Rows come in steps, each a rectangle of rows and columns: a whole matrix is one step, a triangle has many.
#include <algorithm>
#include <utility>

#include "cpu/layout.hpp"
#include "cpu/panels.hpp"
#include "linalg/lapack.hpp"

namespace tracenorm::cpu {

namespace {

constexpr Index kFactorRows = 64;
/// Rows of a Gram matrix's sum that BLAS takes at once.
constexpr Index kGramBlock = 128;

class DenseLayout final : public Layout {
 public:
  DenseLayout(Index rows, Index cols, Staircase steps) : Layout(rows, cols), steps_(std::move(steps)) {
    Offset begin = 0;
    for (std::size_t s = 0; s < steps_.first.size(); ++s) {
      begin_.push_back(begin);
      const Index height = std::min<Index>(steps_.height, rows - static_cast<Index>(s) * steps_.height);
      begin += static_cast<Offset>(height) * width(s);
      widest_ = std::max(widest_, width(s));
    }
    begin_.push_back(begin);
    if (begin_.size() == 2) return;
    for (Index i = 0; i <= rows; ++i) row_begins_.push_back(row_begin(i));
  }

  [[nodiscard]] Offset row_begin(Index row) const override {
    if (row == rows_) return begin_.back();
    const auto s = static_cast<std::size_t>(row / steps_.height);
    return begin_[s] + static_cast<Offset>(row % steps_.height) * width(s);
  }
  [[nodiscard]] const Offset* row_begins() const override { return row_begins_.empty() ? nullptr : row_begins_.data(); }

  void apply(RowRange r, const Real* m, const double* v, double* product) const override {
    for_steps(r, [&](const Step& s) { kernels::linear_kernels().dense_apply(s.rows(m), v + s.col, product + s.row); });
  }

  void apply_transpose(RowRange r, const Real* m, const double* u, double* out) const override {
    for_steps(
        r, [&](const Step& s) { kernels::linear_kernels().dense_apply_transpose(s.rows(m), u + s.row, out + s.col); });
  }

  void apply_block(RowRange r, const Real* m, const double* block, Index vectors, double* out) const override {
    for_steps(r, [&](const Step& s) {
      kernels::linear_kernels().dense_apply_block(s.rows(m), block + static_cast<Offset>(s.col) * vectors, vectors,
                                                  out + static_cast<Offset>(s.row) * vectors);
    });
  }

  void normal(RowRange r, const Real* m, const double* v, const kernels::RowTerms<double>& terms,
              double* out) const override {
    kernels::linear_kernels().dense_normal({m, cols_, r.first, r.last}, v, terms, out);  // of whole matrices only
  }

  void normal(RowRange r, const Real* m, const Real* v, Index /*vectors*/, const kernels::RowTerms<Real>& terms,
              Real* out) const override {
    kernels::linear_kernels().dense_normal_fast({m, cols_, r.first, r.last}, v, terms, out);
  }

  [[nodiscard]] Index search_columns() const override { return 1; }  // four would cost more than twice as much as one

  void apply_both(RowRange r, const Real* m, const double* u, const double* v, double* sums,
                  double* out) const override {
    for_steps(r, [&](const Step& s) {
      kernels::linear_kernels().dense_apply_both(s.rows(m), u + s.row, v + s.col, sums + s.row,
                                                 out != nullptr ? out + s.col : nullptr);
    });
  }
  void apply_both(RowRange r, const Real* m, const Real* u, const Real* v, Real* sums, Real* out) const override {
    for_steps(r, [&](const Step& s) {
      kernels::linear_kernels().dense_apply_both_fast(s.rows(m), u + s.row, v + s.col, sums + s.row,
                                                      out != nullptr ? out + s.col : nullptr);
    });
  }

  double move(RowRange r, Real* x, const Real* kink_mask, const double* u, const Real* v, double t) const override {
    double largest = 0;
    for_steps(r, [&](const Step& s) {
      const Real* mask = kink_mask != nullptr ? kink_mask + s.begin : nullptr;
      largest = std::max(
          largest, kernels::linear_kernels().dense_move(s.rows(nullptr), x + s.begin, mask, u + s.row, v + s.col, t));
    });
    return largest;
  }

  void sample(Offset from, Offset to, const double* u, const double* v, Real* out) const override {
    while (from < to) {
      const auto s = step_at(from);
      const Offset place = from - begin_[s];
      const Index row = static_cast<Index>(s) * steps_.height + static_cast<Index>(place / width(s));
      const auto first = static_cast<Index>(place % width(s));
      const auto last = static_cast<Index>(std::min<Offset>(width(s), first + to - from));
      const double* there = v + steps_.first[s];
      for (Index j = first; j < last; ++j) *out++ = Real(u[row] * there[j]);
      from += last - first;
    }
  }

  void load(RowRange r, const ExactFactors& f, double* x, double* error) const override {
    for_steps(r, [&](const Step& s) {
      for (Index i = s.row + s.first; i < s.row + s.last; i += kFactorRows) {
        const Index count = std::min<Index>(s.row + s.last - i, kFactorRows);
        const Eigen::MatrixXd block =
            f.left.middleRows(i, count) * f.values.asDiagonal() * f.right.middleRows(s.col, s.width).transpose();
        for (Index k = 0; k < count; ++k) {
          for (Index j = 0; j < s.width; ++j) *x++ = block(k, j);
          if (error == nullptr) continue;
          for (Index j = 0; j < s.width; ++j) *error++ = f.left_error[i + k] * f.right_error[s.col + j];
        }
      }
    });
  }

  void factor_entries(Offset from, Offset to, const FactorRows& at, Real scale, Real* x) const override {
    const Block b = block_of(from, to);
    lapack::gemm_rows(lapack::Shape::plain, lapack::Shape::transposed, b.rows, b.cols, at.columns, scale,
                      at.left + static_cast<Offset>(b.row) * at.columns, at.columns,
                      at.right + static_cast<Offset>(b.col) * at.columns, at.columns, 0, x, b.cols);
  }

  void factor_products(Offset from, Offset to, const Real* m, const FactorRows& at, Real* left,
                       Real* right) const override {
    const Block b = block_of(from, to);
    const Offset row = static_cast<Offset>(b.row) * at.columns;
    const Offset col = static_cast<Offset>(b.col) * at.columns;
    lapack::gemm_rows(lapack::Shape::plain, lapack::Shape::plain, b.rows, at.columns, b.cols, 1, m, b.cols,
                      at.right + col, at.columns, 1, left + row, at.columns);
    if (right == nullptr) return;
    lapack::gemm_rows(lapack::Shape::transposed, lapack::Shape::plain, b.cols, at.columns, b.rows, 1, m, b.cols,
                      at.left + row, at.columns, 1, right + col, at.columns);
  }

  [[nodiscard]] Offset factor_block() const override { return static_cast<Offset>(kFactorRows) * widest_; }
  [[nodiscard]] Offset factor_block_end(Offset from) const override {
    const auto s = step_at(from);
    return std::min(begin_[s + 1], from + static_cast<Offset>(kFactorRows) * width(s));
  }

  void scale(RowRange r, const double* u, const double* v, Real* m) const override {
    m += row_begin(r.first);
    for (Index i = r.first; i < r.last; ++i) {
      const auto s = static_cast<std::size_t>(i / steps_.height);
      for (Index j = steps_.first[s]; j < steps_.last[s]; ++j, ++m) *m = Real(u[i] * double(*m) * v[j]);
    }
  }

  void add_gram(RowRange r, const Real* m, Index first, Index last, Eigen::MatrixXd& out) const override {
    const Index below = cols_ - first;        // of whole matrices only
    Eigen::MatrixXd part(below, kGramBlock);  // rows of M from that column on, in double
    for (Index from = r.first; from < r.last; from += kGramBlock) {
      const Index size = std::min(kGramBlock, r.last - from);
      for (Index k = 0; k < size; ++k) {
        part.col(k) = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(m + row_begin(from + k) + first, below)
                          .cast<double>();
      }
      lapack::gemm(lapack::Shape::plain, lapack::Shape::transposed, below, last - first, size, 1.0, part.data(), below,
                   part.data(), below, 1.0, &out(first, first), cols_);
    }
  }

  [[nodiscard]] Eigen::MatrixXd gram_of_rows(const Real* m) const override {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows_, rows_);
    Eigen::MatrixXd part(rows_, kGramBlock);  // columns of M, in double
    for (Index from = 0; from < cols_; from += kGramBlock) {
      const Index size = std::min(kGramBlock, cols_ - from);
      for (Index i = 0; i < rows_; ++i) {
        const Real* row = m + row_begin(i) + from;
        for (Index k = 0; k < size; ++k) part(i, k) = double(row[k]);
      }
      lapack::add_square(lapack::Shape::plain, rows_, size, part.data(), rows_, 1.0, out.data());
    }
    out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
    return out;
  }

  [[nodiscard]] WorkModel work() const override {
    constexpr double operations = 20;  // BLAS does about twenty multiply-adds in the time of an entry
    return {0, rows_ / operations, cols_ / operations, operations};
  }

  void take(const Real* data, Real* stored) const override {
    for_rows([&](Offset at, Offset place, Index count) { std::copy_n(data + place, count, stored + at); });
  }
  void take(const std::int8_t* data, std::int8_t* stored) const override {
    for_rows([&](Offset at, Offset place, Index count) { std::copy_n(data + place, count, stored + at); });
  }
  void give(const Real* stored, Real* data) const override {
    for_rows([&](Offset at, Offset place, Index count) { std::copy_n(stored + at, count, data + place); });
  }

 private:
  /// Rows [row + first, row + last) of a step that begins with this row and column.
  struct Step {
    Index row;
    Index col;
    Index width;
    Index first;
    Index last;
    Offset begin;
    [[nodiscard]] kernels::DenseRows rows(const Real* m) const {
      return {m != nullptr ? m + begin : nullptr, width, first, last};
    }
  };
  /// Whole rows within a step.
  struct Block {
    Index row;
    Index rows;
    Index col;
    Index cols;
  };

  [[nodiscard]] Index width(std::size_t s) const { return steps_.last[s] - steps_.first[s]; }
  [[nodiscard]] std::size_t step_at(Offset entry) const {
    return static_cast<std::size_t>(std::upper_bound(begin_.begin(), begin_.end(), entry) - begin_.begin()) - 1;
  }
  [[nodiscard]] Block block_of(Offset from, Offset to) const {
    const auto s = step_at(from);
    return {static_cast<Index>(s) * steps_.height + static_cast<Index>((from - begin_[s]) / width(s)),
            static_cast<Index>((to - from) / width(s)), steps_.first[s], width(s)};
  }
  template <class Work>
  void for_steps(RowRange r, Work&& work) const {
    for (Index i = r.first; i < r.last;) {
      const auto s = static_cast<std::size_t>(i / steps_.height);
      const Index row = static_cast<Index>(s) * steps_.height;
      const Index last = std::min<Index>(r.last - row, steps_.height);
      if (width(s) > 0) work(Step{row, steps_.first[s], width(s), i - row, last, begin_[s]});
      i = row + last;
    }
  }
  /// work(first entry, its place in the whole matrix, how many) for each row.
  template <class Work>
  void for_rows(Work&& work) const {
    for (Index i = 0; i < rows_; ++i) {
      const auto s = static_cast<std::size_t>(i / steps_.height);
      work(row_begin(i), static_cast<Offset>(i) * cols_ + steps_.first[s], width(s));
    }
  }

  Staircase steps_;
  Index widest_ = 0;
  std::vector<Offset> begin_;       // of the steps
  std::vector<Offset> row_begins_;  // empty for one step
};

}  // namespace

std::unique_ptr<Layout> make_staircase_layout(Index rows, Index cols, Staircase steps) {
  return std::make_unique<DenseLayout>(rows, cols, std::move(steps));
}

std::unique_ptr<Layout> make_dense_layout(Index rows, Index cols) {
  return make_staircase_layout(rows, cols, {rows, {0}, {cols}});
}

}  // namespace tracenorm::cpu
