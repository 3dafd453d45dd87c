// How the entries of a matrix lie in memory: rows of a sparse pattern, or full rows. A layout multiplies, moves and
// samples ranges of rows or entries of arrays that have its shape; it knows nothing of threads and losses.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <memory>
#include <vector>

#include "base/execution.hpp"
#include "kernels/kernels.hpp"
#include "seam/entry_store.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm::cpu {

/// Rows [first, last).
struct RowRange {
  Index first;
  Index last;
};

/// Factors row by row, `columns` numbers each.
struct FactorRows {
  const Real* left;
  const Real* right;
  Index columns;
};

/// Factors for exact entries, with bounds of what rounding does to these: an entry is a sum of products, and the sum of
/// their absolute values is at most the product of two norms (Cauchy-Schwarz).
struct ExactFactors {
  explicit ExactFactors(const FactorView& x);
  Eigen::Map<const Eigen::MatrixXd> left;
  Eigen::VectorXd values;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> right;
  Eigen::VectorXd left_error;  ///< |entry (i, j) as computed - entry| <= left_error[i] * right_error[j]
  Eigen::VectorXd right_error;
};

class Layout {
 public:
  Layout(Index rows, Index cols) : rows_(rows), cols_(cols) {}
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  virtual ~Layout() = default;

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  /// How many rows are stored. One triangle of a symmetric matrix is stored in two parts, each with a row for every row
  /// of the matrix: `RowRange`s are of stored rows, and do not reach from one part into the other.
  [[nodiscard]] virtual Index stored_rows() const { return rows_; }
  /// Stored rows from here on stand for two entries each, (i, j) and (j, i).
  [[nodiscard]] virtual Index doubled_from() const { return stored_rows(); }
  [[nodiscard]] bool symmetric() const { return doubled_from() < stored_rows(); }
  [[nodiscard]] Offset entries() const { return row_begin(stored_rows()); }
  /// The columns as products in Real number them; empty: as everybody else does.
  [[nodiscard]] const std::vector<Index>& column_order() const { return column_order_; }

  /// Where the entries of a row begin.
  [[nodiscard]] virtual Offset row_begin(Index row) const = 0;
  /// The same for all rows; null when they are equally long.
  [[nodiscard]] virtual const Offset* row_begins() const = 0;

  virtual void apply(RowRange r, const Real* m, const double* v, double* product) const = 0;
  virtual void apply_transpose(RowRange r, const Real* m, const double* u, double* out) const = 0;
  /// out = M block, both row-major, of so many columns.
  virtual void apply_block(RowRange r, const Real* m, const double* block, Index vectors, double* out) const = 0;
  virtual void normal(RowRange r, const Real* m, const double* v, const kernels::RowTerms<double>& terms,
                      double* out) const = 0;
  /// In Real, for `vectors` side by side: one, or as many as `search_columns` says.
  virtual void normal(RowRange r, const Real* m, const Real* v, Index vectors, const kernels::RowTerms<Real>& terms,
                      Real* out) const = 0;
  [[nodiscard]] virtual Index search_columns() const = 0;
  /// out += M v of a symmetric M, as far as these rows are concerned: what stands in one triangle meets both sides.
  /// Symmetric layouts have these instead of the products above.
  virtual void apply_symmetric(RowRange r, const Real* m, const double* v, double* out) const;
  virtual void apply_symmetric(RowRange r, const Real* m, const Real* v, Real* out) const;
  /// sums += M v for these rows, out += M' u; without `out` the sums alone.
  virtual void apply_both(RowRange r, const Real* m, const double* u, const double* v, double* sums,
                          double* out) const = 0;
  virtual void apply_both(RowRange r, const Real* m, const Real* u, const Real* v, Real* sums, Real* out) const = 0;
  /// From the order of the data to that in which entries are stored, and back.
  virtual void take(const Real* data, Real* stored) const;
  virtual void take(const std::int8_t* data, std::int8_t* stored) const;
  virtual void give(const Real* stored, Real* data) const;
  /// x <- (1-t) x + t u v', v in the order `column_order`; returns max |x - u v'| before. Where a mask is given, only
  /// entries that are not NaN there count for that.
  virtual double move(RowRange r, Real* x, const Real* kink_mask, const double* u, const Real* v, double t) const = 0;
  /// out <- u v' at entries [from, to).
  virtual void sample(Offset from, Offset to, const double* u, const double* v, Real* out) const = 0;
  /// x <- left diag(values) right' at the entries of these rows, and what it may be off by, if `error` is given.
  virtual void load(RowRange r, const ExactFactors& factors, double* x, double* error) const = 0;
  /// x <- scale * left right' at entries [from, to), which are whole rows where they are full.
  virtual void factor_entries(Offset from, Offset to, const FactorRows& at, Real scale, Real* x) const = 0;
  /// left += M right for the rows of those entries, right += M' left, with slopes m of entries [from, to). Either may
  /// be null, and of a symmetric matrix the two may be the same: that is M times factors that are equal on both sides.
  virtual void factor_products(Offset from, Offset to, const Real* m, const FactorRows& at, Real* left,
                               Real* right) const = 0;
  /// How many entries `factor_entries` takes at once, and where a block of them ends that begins here.
  [[nodiscard]] virtual Offset factor_block() const = 0;
  [[nodiscard]] virtual Offset factor_block_end(Offset from) const {
    return std::min(entries(), from + factor_block());
  }
  /// m <- diag(u) m diag(v).
  virtual void scale(RowRange r, const double* u, const double* v, Real* m) const = 0;
  /// out += M'M for these rows, in double: columns [first, last) of it, what is below the diagonal.
  virtual void add_gram(RowRange r, const Real* m, Index first, Index last, Eigen::MatrixXd& out) const = 0;
  /// MM' of whole matrices.
  [[nodiscard]] virtual Eigen::MatrixXd gram_of_rows(const Real* m) const = 0;
  [[nodiscard]] virtual WorkModel work() const = 0;

 protected:
  Index rows_;
  Index cols_;
  std::vector<Index> column_order_;
};

/// Full rows: blocks of `height` of them, each with the columns from `first` to `last`.
struct Staircase {
  Index height;
  std::vector<Index> first;
  std::vector<Index> last;
};

/// Refers to the pattern, which must outlive it. Columns are numbered by how many entries they have (these counts, or
/// the pattern's own), unless `ranks` says no.
std::unique_ptr<Layout> make_sparse_layout(const SparsePattern& pattern, const Execution& execution,
                                           const std::vector<Offset>* entries_of_columns = nullptr, bool ranks = true);
/// What passes over so many entries cost.
WorkModel sparse_work(const Counts& entries);
std::unique_ptr<Layout> make_dense_layout(Index rows, Index cols);
std::unique_ptr<Layout> make_staircase_layout(Index rows, Index cols, Staircase steps);
/// One triangle of a symmetric matrix.
std::unique_ptr<Layout> make_symmetric_layout(const SparsePattern& pattern, const Execution& execution);
std::unique_ptr<Layout> make_symmetric_layout(Index size);

}  // namespace tracenorm::cpu
