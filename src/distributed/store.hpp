// A store whose rows are shared among ranks: each has its own in a store of any kind, which adds up over all shards.
#pragma once

#include <memory>
#include <vector>

#include "base/execution.hpp"
#include "cpu/layout.hpp"
#include "distributed/panels.hpp"
#include "distributed/share.hpp"
#include "seam/entry_store.hpp"

namespace tracenorm::distributed {

class DistributedStore final : public EntryStore {
 public:
  /// `all` is the data of all ranks (or, where they are shared, of this one). It, ranks and panels must outlive it.
  DistributedStore(std::shared_ptr<const Part> part, std::unique_ptr<EntryStore> local, const Observations& all,
                   Ranks& ranks, DistributedPanels& panels, const Execution& execution);

  EntrySums linearize(double width, bool with_conjugates, const NormalProduct* first) override {
    return local_->linearize(width, with_conjugates, first);
  }
  void shift_kinks(double width) override { local_->shift_kinks(width); }
  void aim(const Product& target) override { local_->aim(target); }
  EntrySums aim_without(const Product& term, double scale, std::optional<double> width) override {
    return local_->aim_without(term, scale, width);
  }
  SegmentSums segment(std::span<const double> t, std::optional<double> width) override {
    return local_->segment(t, width);
  }
  double move(double t) override;
  void load(const FactorView& x) override { local_->load(x); }
  [[nodiscard]] EntrySums objective(const FactorView& x) const override { return local_->objective(x); }
  EntrySums factor_gradient(const Product& at, double scale, double width, const Product& products) override {
    return local_->factor_gradient(at, scale, width, products);
  }
  void multiply(Slopes which, const Panel& in, const Panel& out) override { local_->multiply(which, in, out); }
  void multiply(Slopes which, const NormalProduct& product) override { local_->multiply(which, product); }
  void multiply(Slopes which, const Product& in, const Product& out) override { local_->multiply(which, in, out); }
  void average(double t) override { local_->average(t); }
  EntrySums conjugates(Slopes which, const FactorView* x) override { return local_->conjugates(which, x); }
  [[nodiscard]] std::vector<Real> dual_slopes() const override;
  Eigen::MatrixXd gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) override;
  void forget_slopes() override { local_->forget_slopes(); }
  void leave_slopes() override { local_->leave_slopes(); }
  void watch(const Entries& held_out, const FactorView& x) override;
  [[nodiscard]] HeldOutSums held_out() const override { return local_->held_out(); }
  bool exchange(Exchange state) override;

 private:
  [[nodiscard]] bool off_pattern() const { return facts_.off_pattern > 0; }
  Eigen::MatrixXd gram_of_rows(const Panel& row_factor, const Panel& col_factor);
  Eigen::MatrixXd gram_by_products(Slopes which);
  [[nodiscard]] std::unique_ptr<cpu::Layout> whole_layout() const;
  /// Null where every rank has all of the data.
  [[nodiscard]] const SharedRows* shared() const;
  [[nodiscard]] const SparsePattern& whole_pattern() const;

  std::shared_ptr<const Part> part_;
  const Share& share_;
  std::unique_ptr<EntryStore> local_;
  const Observations& all_;
  Ranks& ranks_;
  DistributedPanels& panels_;
  mutable SparsePattern gathered_;    // of data that are shared, once somebody needs it
  bool full_rows_ = false;            // whatever is observed
  Offset first_entry_ = 0;            // of this rank's, among all
  Entries held_out_;                  // those in rows of this rank
  std::vector<std::size_t> held_at_;  // where each of them is among all
  std::size_t held_of_all_ = 0;
};

}  // namespace tracenorm::distributed
