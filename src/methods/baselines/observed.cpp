#include "methods/baselines/observed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tracenorm/error.hpp"

namespace tracenorm::baselines {

namespace {

SparseObservations sparse_from(const DenseObservations& dense) {
  std::vector<Offset> begin{0};
  std::vector<Index> col;
  std::vector<Real> value;
  std::vector<Real> weight;
  std::size_t place = 0;
  for (Index i = 0; i < dense.rows; ++i) {
    for (Index j = 0; j < dense.cols; ++j, ++place) {
      if (std::isnan(dense.value[place])) continue;
      col.push_back(j);
      value.push_back(dense.value[place]);
      if (!dense.weight.empty()) weight.push_back(dense.weight[place]);
    }
    begin.push_back(static_cast<Offset>(col.size()));
  }
  return {SparsePattern(dense.rows, dense.cols, std::move(begin), std::move(col)), std::move(value), std::move(weight)};
}

}  // namespace

Index checked_rank(std::string_view method, double rank, Index rows, Index cols) {
  const Index most = std::min(rows, cols);
  if (rank != std::floor(rank) || rank < 1 || rank > most) {
    throw Error(ErrorCode::usage, fmt::format("{}: rank = {:g}; a {} x {} matrix has a whole rank from 1 to {}", method,
                                              rank, rows, cols, most));
  }
  return static_cast<Index>(rank);
}

Observed::Observed(const Observations& observations, const Execution& execution) : execution_(execution) {
  if (const auto* dense = std::get_if<DenseObservations>(&observations)) owned_ = sparse_from(*dense);
  const auto* sparse = std::get_if<SparseObservations>(&observations);
  data_ = sparse != nullptr ? sparse : &owned_;
  const SparsePattern& pattern = data_->pattern;
  row_cuts_ = cut_rows(rows(), entries(), pattern.begin());
  col_begin_.assign(static_cast<std::size_t>(cols()) + 1, 0);
  for (Offset e = 0; e < entries(); ++e) ++col_begin_[static_cast<std::size_t>(pattern.col()[e]) + 1];
  std::partial_sum(col_begin_.begin(), col_begin_.end(), col_begin_.begin());
  std::vector<Offset> place(col_begin_.begin(), col_begin_.end() - 1);
  col_row_.resize(static_cast<std::size_t>(entries()));
  col_entry_.resize(static_cast<std::size_t>(entries()));
  for (Index i = 0; i < rows(); ++i) {
    for (Offset e = begin(i); e < begin(i + 1); ++e) {
      const auto to = static_cast<std::size_t>(place[static_cast<std::size_t>(pattern.col()[e])]++);
      col_row_[to] = i;
      col_entry_[to] = e;
    }
  }
  col_cuts_ = cut_rows(cols(), entries(), col_begin_.data());
}

void Observed::sample(const RowBlock& left, const RowBlock& right, std::vector<double>& out) const {
  out.resize(static_cast<std::size_t>(entries()));
  const Columns& col = data_->pattern.col();
  execution_.for_each_shard(static_cast<int>(row_cuts_.size()) - 1, [&](int s) {
    const auto shard = static_cast<std::size_t>(s);
    for (Index i = row_cuts_[shard]; i < row_cuts_[shard + 1]; ++i) {
      for (Offset e = begin(i); e < begin(i + 1); ++e) {
        out[static_cast<std::size_t>(e)] = left.row(i).dot(right.row(col[e]));
      }
    }
  });
}

void Observed::apply(const std::vector<double>& z, const RowBlock& block, Eigen::MatrixXd& out) const {
  out.resize(rows(), block.cols());
  const Columns& col = data_->pattern.col();
  execution_.for_each_shard(static_cast<int>(row_cuts_.size()) - 1, [&](int s) {
    const auto shard = static_cast<std::size_t>(s);
    Eigen::RowVectorXd sum(block.cols());
    for (Index i = row_cuts_[shard]; i < row_cuts_[shard + 1]; ++i) {
      sum.setZero();
      for (Offset e = begin(i); e < begin(i + 1); ++e) sum += z[static_cast<std::size_t>(e)] * block.row(col[e]);
      out.row(i) = sum;
    }
  });
}

void Observed::apply_transpose(const std::vector<double>& z, const RowBlock& block, Eigen::MatrixXd& out) const {
  out.resize(cols(), block.cols());
  execution_.for_each_shard(static_cast<int>(col_cuts_.size()) - 1, [&](int s) {
    const auto shard = static_cast<std::size_t>(s);
    Eigen::RowVectorXd sum(block.cols());
    for (Index j = col_cuts_[shard]; j < col_cuts_[shard + 1]; ++j) {
      sum.setZero();
      for (auto p = static_cast<std::size_t>(col_begin_[static_cast<std::size_t>(j)]);
           p < static_cast<std::size_t>(col_begin_[static_cast<std::size_t>(j) + 1]); ++p) {
        sum += z[static_cast<std::size_t>(col_entry_[p])] * block.row(col_row_[p]);
      }
      out.row(j) = sum;
    }
  });
}

}  // namespace tracenorm::baselines
