// Entries on a fixed sparse pattern. Memory per entry (Real = float): datum 4, iterate 4, slope 4, average 4, column 2
// and once more 2 in another order; with more than 65536 columns 4, and no other order.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/block_sums.hpp"
#include "base/grouping.hpp"
#include "cpu/layout.hpp"
#include "cpu/panels.hpp"

namespace tracenorm::cpu {

namespace {

/// out += sum over rows of r r' for sparse rows r, from their entries in columns [first, last): what these columns of
/// the Gram matrix have below the diagonal.
template <class Columns>
void add_row_squares(RowRange r, const Offset* begin, const Columns& col, const Real* m, Index first, Index last,
                     Eigen::MatrixXd& out) {
  for (Index i = r.first; i < r.last; ++i) {
    const Offset end = begin[i + 1];
    for (Offset a = std::lower_bound(&col[begin[i]], &col[begin[i]] + (end - begin[i]), first) - &col[0];
         a < end && static_cast<Index>(col[a]) < last; ++a) {
      const double value = double(m[a]);
      double* column = out.data() + static_cast<Offset>(col[a]) * out.rows();
      for (Offset b = a; b < end; ++b) column[col[b]] += value * double(m[b]);
    }
  }
}

std::vector<Offset> count_columns(const SparsePattern& pattern, const Execution& execution) {
  return pattern.col().visit([&]<class Column>(const Column* col) {
    const Grouping<Column> columns({col, static_cast<std::size_t>(pattern.entries())}, pattern.cols(), execution);
    std::vector<Offset> counts(columns.begin().begin() + 1, columns.begin().end());
    for (std::size_t j = counts.size(); j-- > 0;) counts[j] -= columns.begin()[j];
    return counts;
  });
}

class SparseLayout final : public Layout {
 private:
  /// work(these rows, the kernels for their kind of columns).
  template <class Work>
  decltype(auto) visit_rows(RowRange r, const Real* m, Work&& work) const {
    return pattern_.col().visit([&]<class Column>(const Column* col) {
      return work(kernels::RowsOf<Column>{pattern_.begin(), col, m, r.first, r.last},
                  kernels::linear_kernels().sparse<Column>());
    });
  }

  /// The same with the columns in the order of `column_order`.
  template <class Work>
  decltype(auto) visit_ranked_rows(RowRange r, const Real* m, Work&& work) const {
    if (ranked_col_.empty()) return visit_rows(r, m, work);
    return work(kernels::RowsOf<ShortIndex>{pattern_.begin(), ranked_col_.data(), m, r.first, r.last},
                kernels::linear_kernels().narrow);
  }

  /// work(row, first entry, last entry) for the parts of rows that entries [from, to) are.
  template <class Work>
  void for_row_parts(Offset from, Offset to, Work&& work) const {
    const Offset* begin = pattern_.begin();
    auto row = static_cast<Index>(std::upper_bound(begin, begin + rows_ + 1, from) - begin) - 1;
    for (; from < to; ++row) {
      const Offset last = std::min(to, begin[row + 1]);
      work(row, from, last);
      from = last;
    }
  }

 public:
  SparseLayout(const SparsePattern& pattern, const Execution& execution, const std::vector<Offset>* entries_of_columns,
               bool ranks)
      : Layout(pattern.rows(), pattern.cols()), pattern_(pattern) {
    const std::vector<Offset> per_column = count_columns(pattern, execution);
    Counts counts{std::vector<Offset>(static_cast<std::size_t>(rows_)), per_column};
    std::adjacent_difference(pattern.begin() + 1, pattern.begin() + rows_ + 1, counts.row.begin());
    work_ = sparse_work(counts);
    if (ranks) rank_columns(entries_of_columns != nullptr ? *entries_of_columns : per_column, execution);
  }

  [[nodiscard]] Offset row_begin(Index row) const override { return pattern_.begin()[row]; }
  [[nodiscard]] const Offset* row_begins() const override { return pattern_.begin(); }

  void apply(RowRange r, const Real* m, const double* v, double* product) const override {
    visit_rows(r, m, [&](const auto& rows, const auto& kernel) { kernel.apply(rows, v, product); });
  }

  void apply_transpose(RowRange r, const Real* m, const double* u, double* out) const override {
    visit_rows(r, m, [&](const auto& rows, const auto& kernel) { kernel.apply_transpose(rows, u, out); });
  }

  void apply_block(RowRange r, const Real* m, const double* block, Index vectors, double* out) const override {
    visit_rows(r, m, [&](const auto& rows, const auto& kernel) { kernel.apply_block(rows, block, vectors, out); });
  }

  void normal(RowRange r, const Real* m, const double* v, const kernels::RowTerms<double>& terms,
              double* out) const override {
    visit_rows(r, m, [&](const auto& rows, const auto& kernel) { kernel.normal(rows, v, terms, out); });
  }

  void normal(RowRange r, const Real* m, const Real* v, Index vectors, const kernels::RowTerms<Real>& terms,
              Real* out) const override {
    visit_ranked_rows(r, m, [&](const auto& rows, const auto& kernel) {
      (vectors == 1 ? kernel.normal_fast : kernel.normal_block)(rows, v, terms, out);
    });
  }

  [[nodiscard]] Index search_columns() const override { return kernels::kBlockColumns; }

  void apply_both(RowRange r, const Real* m, const double* u, const double* v, double* sums,
                  double* out) const override {
    visit_rows(r, m, [&](const auto& rows, const auto& kernel) {
      if (out != nullptr) return kernel.apply_both(rows, u, v, sums, out);
      add_rows(rows, v, sums);
    });
  }
  void apply_both(RowRange r, const Real* m, const Real* u, const Real* v, Real* sums, Real* out) const override {
    visit_rows(r, m, [&](const auto& rows, const auto& kernel) {
      if (out != nullptr) return kernel.apply_both_fast(rows, u, v, sums, out);
      add_rows(rows, v, sums);
    });
  }

  double move(RowRange r, Real* x, const Real* /*kink_mask*/, const double* u, const Real* v, double t) const override {
    return visit_ranked_rows(r, nullptr,
                             [&](const auto& rows, const auto& kernel) { return kernel.move(rows, x, u, v, t); });
  }

  void sample(Offset from, Offset to, const double* u, const double* v, Real* out) const override {
    pattern_.col().visit([&](const auto* col) {
      for_row_parts(from, to, [&](Index row, Offset first, Offset last) {
        for (Offset e = first; e < last; ++e) out[e - from] = Real(u[row] * v[col[e]]);
      });
    });
  }

  void load(RowRange r, const ExactFactors& f, double* x, double* error) const override {
    Eigen::VectorXd row_left(f.values.size());
    visit_rows(r, nullptr, [&](const auto& rows, const auto&) {
      for (Index i = rows.first; i < rows.last; ++i) {
        row_left = f.left.row(i).transpose().cwiseProduct(f.values);
        for (Offset e = rows.begin[i]; e < rows.begin[i + 1]; ++e) {
          *x++ = f.right.row(rows.col[e]).dot(row_left);
          if (error != nullptr) *error++ = f.left_error[i] * f.right_error[rows.col[e]];
        }
      }
    });
  }

  void factor_entries(Offset from, Offset to, const FactorRows& at, Real scale, Real* x) const override {
    pattern_.col().visit([&]<class Column>(const Column* col) {
      const auto dots = kernels::linear_kernels().sparse<Column>().factor_dots;
      for_row_parts(from, to, [&](Index row, Offset first, Offset last) {
        const Real* left = at.left + static_cast<Offset>(row) * at.columns;
        dots(col + first, last - first, left, at.right, at.columns, x + (first - from));
      });
    });
    for (Offset e = 0; e < to - from; ++e) x[e] *= scale;
  }

  void factor_products(Offset from, Offset to, const Real* m, const FactorRows& at, Real* left,
                       Real* right) const override {
    pattern_.col().visit([&]<class Column>(const Column* col) {
      const auto products = kernels::linear_kernels().sparse<Column>().factor_products;
      for_row_parts(from, to, [&](Index row, Offset first, Offset last) {
        const Offset place = static_cast<Offset>(row) * at.columns;
        if (right == nullptr) {
          for (Offset e = first; e < last; ++e) {
            const Real* from_row = at.right + static_cast<Offset>(col[e]) * at.columns;
            for (Index k = 0; k < at.columns; ++k) left[place + k] += m[e - from] * from_row[k];
          }
          return;
        }
        products(col + first, m + (first - from), last - first, at.left + place, at.right, at.columns, left + place,
                 right);
      });
    });
  }

  [[nodiscard]] Offset factor_block() const override {
    return 256;  // the rows of the right factor that they meet stay in the second cache
  }

  void scale(RowRange r, const double* u, const double* v, Real* m) const override {
    visit_rows(r, m, [&](const auto& rows, const auto&) {
      for (Index i = rows.first; i < rows.last; ++i) {
        for (Offset e = rows.begin[i]; e < rows.begin[i + 1]; ++e) m[e] = Real(u[i] * double(m[e]) * v[rows.col[e]]);
      }
    });
  }

  void add_gram(RowRange r, const Real* m, Index first, Index last, Eigen::MatrixXd& out) const override {
    pattern_.col().visit([&](const auto* col) { add_row_squares(r, pattern_.begin(), col, m, first, last, out); });
  }

  [[nodiscard]] Eigen::MatrixXd gram_of_rows(const Real* m) const override {
    // The transpose, for the time of this call.
    std::vector<Offset> begin(static_cast<std::size_t>(cols_) + 1, 0);
    for (Offset e = 0; e < entries(); ++e) ++begin[static_cast<std::size_t>(pattern_.col()[e]) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Offset> place(begin.begin(), begin.end() - 1);
    std::vector<Index> row(static_cast<std::size_t>(entries()));
    std::vector<Real> value(row.size());
    for (Index i = 0; i < rows_; ++i) {
      for (Offset e = row_begin(i); e < row_begin(i + 1); ++e) {
        const auto to = static_cast<std::size_t>(place[static_cast<std::size_t>(pattern_.col()[e])]++);
        row[to] = i;
        value[to] = m[e];
      }
    }
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows_, rows_);
    add_row_squares({0, cols_}, begin.data(), row.data(), value.data(), 0, rows_, out);
    out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
    return out;
  }

  [[nodiscard]] WorkModel work() const override { return work_; }

 private:
  template <class SparseRows, class Work>
  static void add_rows(const SparseRows& rows, const Work* v, Work* sums) {
    for (Index i = rows.first; i < rows.last; ++i) {
      for (Offset e = rows.begin[i]; e < rows.begin[i + 1]; ++e) sums[i] += Work(rows.value[e]) * v[rows.col[e]];
    }
  }

  /// Numbers the columns by how many entries they have: the busy ones share few cache lines.
  void rank_columns(const std::vector<Offset>& per_column, const Execution& execution) {
    if (cols_ > std::numeric_limits<ShortIndex>::max() + 1) return;
    column_order_.resize(per_column.size());
    std::iota(column_order_.begin(), column_order_.end(), 0);
    std::stable_sort(column_order_.begin(), column_order_.end(), [&](Index a, Index b) {
      return per_column[static_cast<std::size_t>(a)] > per_column[static_cast<std::size_t>(b)];
    });
    std::vector<ShortIndex> rank(per_column.size());
    for (std::size_t k = 0; k < rank.size(); ++k) {
      rank[static_cast<std::size_t>(column_order_[k])] = static_cast<ShortIndex>(k);
    }
    ranked_col_.resize(static_cast<std::size_t>(entries()));
    pattern_.col().visit([&](const auto* col) {
      for_each_element(execution, ranked_col_.size(), [&](std::size_t e) { ranked_col_[e] = rank[col[e]]; });
    });
  }

  const SparsePattern& pattern_;
  std::vector<ShortIndex> ranked_col_;  // each entry's column in `column_order`; empty: too many columns
  WorkModel work_;
};

}  // namespace

WorkModel sparse_work(const Counts& entries) {
  // What M'M costs, and MM'.
  double row_squares = 0;
  double col_squares = 0;
  double count = 0;
  for (const Offset in_column : entries.col) {
    col_squares += static_cast<double>(in_column) * static_cast<double>(in_column);
    count += static_cast<double>(in_column);
  }
  for (const Offset in_row : entries.row) row_squares += static_cast<double>(in_row) * static_cast<double>(in_row);
  // A pass with four vectors was measured (docs/measurements.md); sparse work moves about one entry, BLAS about twenty
  // multiply-adds, per nanosecond and core.
  return {0.3, col_squares / count, row_squares / count, 20};
}

std::unique_ptr<Layout> make_sparse_layout(const SparsePattern& pattern, const Execution& execution,
                                           const std::vector<Offset>* entries_of_columns, bool ranks) {
  return std::make_unique<SparseLayout>(pattern, execution, entries_of_columns, ranks);
}

}  // namespace tracenorm::cpu
