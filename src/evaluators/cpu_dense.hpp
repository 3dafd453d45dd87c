// A full matrix, for penalties and data that leave no entry out. Memory per entry (Real = float): datum (NaN = missing)
// 4, iterate 4, slope 4, average 4, and where the data are few levels (links, labels, ratings) their code 1: then no
// pass of an iteration reads more than 5 bytes an entry.
#pragma once

#include "evaluators/cpu_evaluator.hpp"

namespace tracenorm {

class CpuDenseEvaluator final : public CpuEvaluator {
 public:
  CpuDenseEvaluator(const Problem& problem, const DenseObservations& data, std::uint64_t seed);
  /// Owns the full matrix made from sparse data.
  CpuDenseEvaluator(const Problem& problem, std::unique_ptr<DenseObservations> data, std::uint64_t seed);

  [[nodiscard]] Offset entries() const override { return static_cast<Offset>(rows_) * cols_; }

 private:
  [[nodiscard]] kernels::DenseRows dense_rows(int shard, const Real* m) const;
  /// Makes the data in one byte, if they are at most 128 levels at equal distances.
  void code_data(const Array<Real>& value);
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

  std::unique_ptr<DenseObservations> owned_;
  std::vector<std::int8_t> code_;
  const Real* kink_mask_ = nullptr;  // null when every entry has a kink
};

}  // namespace tracenorm
