// The observed entries as the baselines see them: compressed rows, the same entries by columns, and products of a
// matrix on that pattern with blocks of vectors. Rows and columns are cut into shards by the data alone, and every
// output row is summed by one shard: the same bits on any number of threads, and no output buffer per thread.
#pragma once

#include <Eigen/Core>
#include <string_view>
#include <vector>

#include "base/execution.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm::baselines {

/// One row's factors side by side.
using RowBlock = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The rank as a whole number that an m x n matrix can have; a usage error that names both otherwise.
Index checked_rank(std::string_view method, double rank, Index rows, Index cols);

class Observed {
 public:
  /// Dense observations are turned into a pattern; sparse ones must outlive this, and so must the execution.
  Observed(const Observations& observations, const Execution& execution);

  [[nodiscard]] Index rows() const { return data_->pattern.rows(); }
  [[nodiscard]] Index cols() const { return data_->pattern.cols(); }
  [[nodiscard]] Offset entries() const { return data_->pattern.entries(); }
  [[nodiscard]] double value(Offset e) const { return double(data_->value[static_cast<std::size_t>(e)]); }
  [[nodiscard]] double weight(Offset e) const {
    return data_->weight.empty() ? 1.0 : double(data_->weight[static_cast<std::size_t>(e)]);
  }

  /// work(e) summed over the entries, shard by shard.
  template <class Work>
  auto sum(Work&& work) const {
    using Sum = decltype(work(Offset{0}));
    std::vector<Sum> parts(row_cuts_.size() - 1);
    execution_.for_each_shard(static_cast<int>(parts.size()), [&](int s) {
      const auto shard = static_cast<std::size_t>(s);
      Sum part{};
      for (Offset e = begin(row_cuts_[shard]); e < begin(row_cuts_[shard + 1]); ++e) part += work(e);
      parts[shard] = part;
    });
    Sum total{};
    for (const Sum& part : parts) total += part;
    return total;
  }

  /// out_e = <row i of left, row j of right> at every entry e = (i, j).
  void sample(const RowBlock& left, const RowBlock& right, std::vector<double>& out) const;
  /// out = Z block, or Z' block, for the matrix Z with entries z on the pattern.
  void apply(const std::vector<double>& z, const RowBlock& block, Eigen::MatrixXd& out) const;
  void apply_transpose(const std::vector<double>& z, const RowBlock& block, Eigen::MatrixXd& out) const;

 private:
  [[nodiscard]] Offset begin(Index row) const { return data_->pattern.begin()[row]; }

  const Execution& execution_;
  SparseObservations owned_;  // empty unless made from dense observations
  const SparseObservations* data_;
  std::vector<Index> row_cuts_;
  std::vector<Offset> col_begin_;  // the transpose: entries of column j are
  std::vector<Index> col_row_;     // at rows col_row_[col_begin_[j] ...]
  std::vector<Offset> col_entry_;  // and have these places in the compressed rows
  std::vector<Index> col_cuts_;
};

}  // namespace tracenorm::baselines
