// The entries in the memory of a CUDA device. A pattern is kept twice, by rows and by columns, so that products with M
// and with M' both read along memory and no two threads ever add to the same number: whatever changes an entry does the
// same to both copies. A full matrix is kept once.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/execution.hpp"
#include "cuda/exact.hpp"
#include "cuda/order.hpp"
#include "seam/entry_store.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm::cuda {

class CudaStore final : public EntryStore {
 public:
  /// The problem must outlive it.
  CudaStore(const Problem& problem, std::shared_ptr<Device> device, const Execution& execution);

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
  void watch(const Entries& held_out, const FactorView& x) override;
  [[nodiscard]] HeldOutSums held_out() const override;
  bool exchange(Exchange state) override;

 private:
  [[nodiscard]] bool off_pattern() const { return mode_ == kernels::Mode::observed_complement; }
  [[nodiscard]] bool full() const { return orders_.size() == 1; }
  [[nodiscard]] EntryFunction function() const { return {loss_, mode_, lambda_}; }
  [[nodiscard]] cudaStream_t stream() const { return device_->stream(); }
  /// Which array of slopes a product uses, made if it is not.
  [[nodiscard]] const Real* slopes(const Order& order, Slopes which);
  [[nodiscard]] const DeviceArray<Real>& kept_slopes(const Order& order, Slopes which) const;
  /// Slopes of now where there are only rough ones: X has not moved since.
  void make_slopes();
  /// work(order, report) for every order of the entries: sums come from the first one alone.
  template <class Work>
  const double* sum(int numbers, Work&& work) const;
  /// work(order) for these and for the held-out ones.
  template <class Work>
  void for_all_orders(Work&& work);

  /// Factors row by row; they live as long as this.
  struct HeldRows {
    DeviceArray<double> left;
    DeviceArray<double> right;
    DeviceArray<double> left_error;
    DeviceArray<double> right_error;
    Index columns;
    [[nodiscard]] ExactRows rows() const {
      return {left.data(), right.data(), columns, left_error.data(), right_error.data()};
    }
  };
  [[nodiscard]] HeldRows rows_of(const FactorView& x) const;
  void add_errors(const FactorView& x, HeldRows& rows) const;
  /// The vectors of an atom in Real.
  void take_atom(const Product& atom);
  template <class V>
  void multiply_normal(Slopes which, const NormalProduct& product);
  /// The same to two digits; false where there is no shorter way.
  bool multiply_roughly(Slopes which, const NormalProduct& product);
  void multiply_blocks(const Order& order, const Real* m, bool transposed, const Real* in, Index columns, Real* out);
  EntrySums conjugates_off_pattern(Slopes which, const FactorView& x);
  /// An array that may be missing, or must not, in the order that it has here.
  void exchange(Exchange& state, std::string_view name, std::size_t size, bool needed, DeviceArray<Real>& array);

  const Loss& loss_;
  kernels::Mode mode_ = kernels::Mode::observed;
  double lambda_;
  std::shared_ptr<Device> device_;
  std::vector<Order> orders_;      // by rows and by columns, or full rows
  std::optional<Order> held_out_;  // with data, X and target alone
  Slopes dual_of_ = Slopes::current;
  double width_ = 0;            // of the slopes of now
  bool rough_slopes_ = false;   // are those of now
  bool only_rough_ = false;     // there are no others
  bool slopes_wanted_ = false;  // others were needed since they were made last

  bool atom_aimed_ = true;
  DeviceArray<Real> atom_left_;
  DeviceArray<Real> atom_right_;
  DeviceArray<Real> real_parts_;  // sums of pieces, and what M v became on its way to M' of it
  DeviceArray<Real> real_rows_;
  DeviceArray<std::uint16_t> rough_rows_;
  DeviceArray<double> double_parts_;
  DeviceArray<double> double_rows_;
};

}  // namespace tracenorm::cuda
