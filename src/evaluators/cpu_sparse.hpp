// Entries on a fixed sparse pattern. Memory per entry (Real = float): datum 4, iterate 4, slope 4, average 4, column 2
// and once more 2 in another order; with more than 65536 columns 4, and no other order.
#pragma once

#include "evaluators/cpu_evaluator.hpp"

namespace tracenorm {

class CpuSparseEvaluator final : public CpuEvaluator {
 public:
  CpuSparseEvaluator(const Problem& problem, const SparseObservations& data, std::uint64_t seed);

  [[nodiscard]] Offset entries() const override { return data_.pattern.entries(); }

 private:
  template <class Column>
  [[nodiscard]] kernels::RowsOf<Column> rows_of(int shard, const Column* col, const Real* m) const;
  /// work(the rows of a shard, the kernels for their kind of columns).
  template <class Work>
  decltype(auto) visit_rows(int shard, const Real* m, Work&& work) const;
  /// work(row, first entry, last entry) for the parts of rows that entries [from, to) are.
  template <class Work>
  void for_row_parts(Offset from, Offset to, Work&& work) const;
  /// Numbers the columns by how many entries they have: the busy ones share few cache lines.
  void rank_columns(const std::vector<Offset>& per_column);
  void apply_shard(int shard, const Real* m, const double* v, double* product) const override;
  void apply_transpose_shard(int shard, const Real* m, const double* u, double* out) const override;
  void normal_shard(int shard, const Real* m, const double* v, const kernels::RowTerms<double>& terms,
                    double* out) const override;
  void normal_fast_rows(Index first, Index last, const Real* m, const Real* v, Index width,
                        const kernels::RowTerms<Real>& terms, Real* out) const override;
  [[nodiscard]] Index fast_width() const override;
  void apply_block_shard(int shard, const Real* m, const double* block, Index width, double* out) const override;
  double move_shard(int shard, const double* u, const Real* v, double t) override;
  void sample_entries(Offset from, Offset to, const double* u, const double* v, Real* target) const override;
  void load_shard(int shard, const LowRankMatrix& factors, Real* x) const override;
  void scale_shard(int shard, const Real* m, const double* u, const double* v, Real* out) const override;
  double scaled_square(int shard, const Real* m, const double* u, const double* v) const override;
  void factor_entries(Offset from, Offset to, const Factors& at, Real scale, Real* x) const override;
  void factor_products(Offset from, Offset to, const Real* m, const Factors& at, Real* left,
                       Real* right) const override;
  [[nodiscard]] Offset factor_block() const override;
  [[nodiscard]] Offset row_begin(Index row) const override;
  void gram(const Real* m, bool of_columns, Eigen::MatrixXd& out) const override;
  [[nodiscard]] double gram_passes(bool of_columns) const override;

  const SparseObservations& data_;
  std::vector<ShortIndex> ranked_col_;  // each entry's column in `column_order_`; empty: too many columns
  double row_squares_ = 0;              // sum over rows of count^2: the cost of M'M
  double col_squares_ = 0;              // and of MM'
};

}  // namespace tracenorm
