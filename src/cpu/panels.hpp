// Panels in the host's memory. Exact ones are columns of doubles, as LAPACK takes them; those in Real are rows, as the
// kernels take them. Where the store numbers its columns in an order of its own, right panels for searches have it too.
#pragma once

#include <vector>

#include "base/execution.hpp"
#include "base/shards.hpp"
#include "linalg/lapack.hpp"
#include "seam/panels.hpp"

namespace tracenorm::cpu {

using Columns = Eigen::Map<Eigen::MatrixXd>;
using RowMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<RowMatrix, 0, Eigen::OuterStride<>>;

/// The numbers of an exact panel, and of one in Real.
inline Columns columns(const Panel& panel) {
  return {static_cast<double*>(panel.data()) + panel.first() * panel.rows(), panel.rows(), panel.columns()};
}
inline Rows rows(const Panel& panel) {
  return {static_cast<Real*>(panel.data()) + panel.first(), panel.rows(), panel.columns(),
          Eigen::OuterStride<>(panel.pitch())};
}
/// The first of them, or null where there is no panel. Whole panels only.
inline double* doubles(const Panel& panel) { return panel ? columns(panel).data() : nullptr; }
inline Real* reals(const Panel& panel) { return panel ? rows(panel).data() : nullptr; }

class CpuPanels final : public Panels {
 public:
  /// `column_order` is the column that stands at each place, empty for the order of the data. The shards are those of
  /// the rows.
  CpuPanels(Index cols, std::vector<Index> column_order, Shards shards, const Execution& execution);

  Panel make(Side side, Use use, Index columns) override;
  void upload(const Eigen::MatrixXd& from, const Panel& to) override;
  Eigen::MatrixXd download(const Panel& from) override;
  void draw(double size, Random& random, const Panel& panel) override;
  using Panels::gram;
  void gram(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out) override;
  using Panels::combine;
  void combine(double keep, PanelList in, const SmallMatrix& small, const Panel& out) override;
  void scale_rows(const Panel& panel, const Panel& factors) override;
  bool decompose(Panel& left, Eigen::VectorXd& values, Panel& right) override;
  [[nodiscard]] std::span<std::byte> in_host_memory(const Panel& panel) override;

 private:
  /// work(place, row of the data that stands there) for some places.
  template <class Work>
  void for_places(const Panel& panel, Offset first, Offset count, Work&& work) const;
  /// work(block, first row, how many) for blocks of at most so many rows, possibly at once: those of left panels are
  /// within shards, so that what is made of a block does not depend on which other shards are here.
  template <class Work>
  void for_blocks(const Panel& panel, Offset block, Work&& work);
  /// out = the sum of what work(first row, how many rows, part) makes of blocks.
  template <class Number, class Work>
  void sum_over_blocks(const Panel& panel, Offset block, std::vector<Number>& parts, Eigen::Ref<Eigen::MatrixXd> out,
                       Work&& work);
  /// The same of a left panel, with one part for every shard, not for every block.
  template <class Number, class Work>
  void sum_within_shards(const Panel& panel, Offset block, std::vector<Number>& parts, Eigen::Ref<Eigen::MatrixXd> out,
                         Work&& work);
  void gram_of_descent(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out);
  void combine_exact(double keep, const Panel& in, const SmallMatrix& small, const Panel& out);
  void combine_search(double keep, PanelList in, const SmallMatrix& small, const Panel& out);
  void combine_descent(double keep, const Panel& in, const SmallMatrix& small, const Panel& out);
  void combine_mixed(double keep, const Panel& in, const SmallMatrix& small, const Panel& out);

  Index cols_;
  std::vector<Index> column_order_;
  Shards shards_;
  const Execution& execution_;
  lapack::OneThread blas_;
  // Kept so that iterations do not allocate: sums of blocks and of shards, and weights.
  std::vector<int> block_begin_;  // the first block of each shard of a left panel
  std::vector<double> exact_parts_;
  std::vector<double> shard_parts_;
  Eigen::MatrixXd exact_weights_;
  std::vector<Real> parts_;
  RowMatrix weights_;
  Eigen::Array<Real, 1, Eigen::Dynamic> factors_;
};

}  // namespace tracenorm::cpu
