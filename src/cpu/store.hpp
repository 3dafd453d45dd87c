// The entries in the host's memory: arrays of one number an entry, passes over them in shards of rows. What the rows
// look like is the layout's business.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/execution.hpp"
#include "base/shards.hpp"
#include "cpu/held_out.hpp"
#include "cpu/layout.hpp"
#include "kernels/kernels.hpp"
#include "model/entry_bounds.hpp"
#include "seam/backend.hpp"
#include "seam/entry_store.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm::cpu {

class CpuStore final : public EntryStore {
 public:
  /// The problem must outlive it. The whole is given where the problem has some of its rows.
  CpuStore(const Problem& problem, const Execution& execution, const WholeProblem* whole = nullptr);

  [[nodiscard]] const std::vector<Index>& column_order() const { return layout_->column_order(); }
  /// Those of left panels.
  [[nodiscard]] Shards panel_shards() const;

  EntrySums linearize(double width, bool with_conjugates, const NormalProduct* first) override;
  void shift_kinks(double width) override;
  void aim(const Product& target) override;
  EntrySums aim_without(const Product& term, double scale, std::optional<double> width) override;
  SegmentSums segment(std::span<const double> t, std::optional<double> width) override;
  double move(double t) override;
  void load(const FactorView& x) override;
  [[nodiscard]] EntrySums objective(const FactorView& x) const override;
  EntrySums factor_gradient(const Product& at, double scale, double width, const Product& products) override;
  void multiply(Slopes which, const Panel& in, const Panel& out) override;
  void multiply(Slopes which, const NormalProduct& product) override;
  void multiply(Slopes which, const Product& in, const Product& out) override;
  void average(double t) override;
  EntrySums conjugates(Slopes which, const FactorView* x) override;
  [[nodiscard]] std::vector<Real> dual_slopes() const override;
  Eigen::MatrixXd gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) override;
  void forget_slopes() override;
  void leave_slopes() override;
  void watch(const Entries& held_out, const FactorView& x) override;
  [[nodiscard]] HeldOutSums held_out() const override;
  bool exchange(Exchange state) override;

 private:
  using RealArray = std::vector<Real>;

  void read_problem(const Problem& problem, const WholeProblem* whole);
  void cut_triangle();

  [[nodiscard]] bool off_pattern() const { return mode_ == kernels::Mode::observed_complement; }
  [[nodiscard]] int shards() const { return shards_->count(); }
  [[nodiscard]] RowRange shard_rows(int shard) const { return {shards_->begin(shard), shards_->begin(shard + 1)}; }
  /// Its entries stand for two each.
  [[nodiscard]] bool doubled(int shard) const { return shard_rows(shard).first >= layout_->doubled_from(); }
  [[nodiscard]] Offset shard_begin(int shard) const { return layout_->row_begin(shards_->begin(shard)); }
  /// work(shard), at once where the entries are worth it.
  template <class Work>
  void for_each_shard(int shards, Work&& work) const;
  template <class Work>
  void for_each_shard(Work&& work) const {
    for_each_shard(shards(), work);
  }
  /// Entries [from, to), at the places x points to.
  [[nodiscard]] kernels::EntryRange range(Offset from, Offset to, const Real* x, Real* slope) const;
  /// Where only codes of the data are kept: writes the numbers of a range into the buffer, for kernels that want them.
  void decode(kernels::EntryRange& r, RealArray& buffer) const;
  /// Adds up what work(shard, first entry, last entry) says.
  template <class Work>
  EntrySums sum_over_shards(Work&& work) const;
  /// work(loss, kernels of that loss) for the loss and the way its entries are met.
  template <class Work>
  decltype(auto) visit_loss(Work&& work) const;
  /// work(rows) for blocks of rows of a shard whose slopes fit into the second cache.
  template <class Work>
  void for_row_blocks(int shard, Work&& work) const;

  /// out = M v for a symmetric M.
  void multiply_symmetric(const Real* m, const double* v, double* out);
  void multiply_symmetric(const Real* m, const NormalProduct& product);
  /// product <- factor * product + addend, row by row.
  void finish_rows(const NormalProduct& product) const;

  /// Which array of slopes a product uses.
  [[nodiscard]] const Real* slopes(Slopes which) const;
  /// `objective` and `square_x` at entries x, as the iterations see them.
  [[nodiscard]] EntrySums value_at(const RealArray& x) const;
  EntrySums conjugates_off_pattern(Slopes which, const FactorView& x);
  [[nodiscard]] EntryBounds bounds() const { return {loss_, mode_, lambda_}; }
  [[nodiscard]] EntryData data(Offset from, Offset to) const {
    EntryData own{value_ != nullptr ? value_ + from : nullptr, weight_ != nullptr ? weight_ + from : nullptr,
                  to - from};
    if (coded_.code != nullptr) own.coded = {coded_.code + from, coded_.offset, coded_.scale};
    return own;
  }

  /// Adds up the shards' outputs, which are `vectors` numbers a column.
  template <class Number>
  void add_outputs(std::vector<Number>& outputs, Index vectors, Number* out) const;
  /// products <- (M right, M' left), M's entries as slopes_of(shard, from, to) gives them.
  template <class SlopesOf>
  void factor_products(const Product& at, const Product& products, SlopesOf&& slopes_of);

  /// Slopes of r, which are those of entries from `from` on, are taken where the shifts of the kinks say; the buffers
  /// hold the places.
  struct ShiftedPlaces {
    RealArray loss;
    RealArray penalty;
  };
  void shift(kernels::EntryRange& r, Offset from, double width, ShiftedPlaces& places) const;

  const Loss& loss_;
  const Execution& execution_;
  std::unique_ptr<DenseObservations> owned_;  // a full matrix that was made from sparse data
  std::unique_ptr<Layout> layout_;
  kernels::Mode mode_ = kernels::Mode::observed;
  double lambda_;
  bool l1_;
  Offset data_entries_ = 0;  // of the problem, where that is symmetric and half of them are stored
  RealArray stored_value_;   // of one triangle, where the problem is symmetric, or a mask made of codes
  RealArray stored_weight_;
  const Real* kink_mask_ = nullptr;  // null where every entry has a kink
  const Real* value_ = nullptr;      // null where the codes below are all that is kept
  const Real* weight_ = nullptr;
  Array<std::int8_t> code_;
  kernels::CodedData coded_;  // the data in one byte each, where that is possible
  std::optional<Shards> shards_;
  std::optional<Shards> factor_shards_;  // for products with factors: fewer, as each writes a larger output

  RealArray x_;  // the iterate at the entries
  RealArray slope_;
  RealArray average_;                   // empty until averages are used
  RealArray average_x_;                 // beside it with a penalty off the pattern
  const RealArray* dual_of_ = &slope_;  // the array that became the dual point, in place
  RealArray dual_;                      // with a penalty off the pattern: the dual point at the entries,
  RealArray dual_rest_;                 // and less 2 lambda X, which products add everywhere
  RealArray loss_shift_;                // of the loss's kinks, in widths; empty: none
  RealArray penalty_shift_;             // and of an l1 penalty's

  enum class Aim { atom, matrix, met };  // met: a matrix that x has moved to or towards
  Aim aimed_at_ = Aim::atom;
  Product atom_;      // the target, if it is one
  RealArray target_;  // or its entries

  mutable std::vector<EntrySums> parts_;  // of sums, by shard
  std::vector<SegmentSums> segment_parts_;
  std::vector<double> exact_outputs_;  // of a transposed product, by shard
  RealArray search_outputs_;           // the same in Real
  RealArray atom_right_;               // of a move, in the order of the kernels
  RealArray factor_outputs_;           // cols x columns, by shard
  struct FactorBuffers {
    RealArray x;
    RealArray slope;
    RealArray decoded;
    ShiftedPlaces places;
    EntrySums sums;
  };
  std::vector<FactorBuffers> factor_buffers_;  // of a gradient, by shard
  std::vector<EntrySums> factor_parts_;
  CpuHeldOut held_out_;
};

}  // namespace tracenorm::cpu
