#include "cuda/store.hpp"

#include <fmt/format.h>

#include <utility>

#include "cuda/panels.hpp"
#include "cuda/passes.hpp"
#include "model/entry_functions.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::cuda {

namespace {

/// What a device does in the time of an entry, which is a few picoseconds. Gram matrices are made there, in double;
/// what is decomposed is decomposed on the host, by one thread.
constexpr double kDeviceOperations = 5;
constexpr double kHostOperations = 0.02;

/// An answer to the host, and the least that a pass takes, in bytes that could be moved meanwhile: fifteen and five
/// microseconds at four terabytes a second.
constexpr double kAnswerBytes = 60e6;
constexpr double kLeastBytes = 20e6;
double answer_of(double entries, double bytes) { return kAnswerBytes / (kLeastBytes + entries * bytes); }

double sum_of_squares(const std::vector<Offset>& counts) {
  double sum = 0;
  for (const Offset count : counts) sum += static_cast<double>(count) * static_cast<double>(count);
  return sum;
}

}  // namespace

CudaStore::CudaStore(const Problem& problem, std::shared_ptr<Device> device, const Execution& execution)
    : loss_(problem.loss), lambda_(penalty_lambda(problem.penalty)), device_(std::move(device)) {
  const auto* dense = std::get_if<DenseObservations>(&problem.observations);
  const auto* sparse = std::get_if<SparseObservations>(&problem.observations);
  facts_.rows = rows(problem.observations);
  facts_.cols = cols(problem.observations);
  facts_.data_scale = root_mean_square(problem.observations, execution);
  const auto all = static_cast<Offset>(facts_.rows) * facts_.cols;
  if (dense != nullptr || (std::holds_alternative<L1Penalty>(problem.penalty) && lambda_ > 0)) {  // acts on all entries
    mode_ = dense_mode(problem.penalty);
    orders_.push_back(full_order(*device_, dense != nullptr ? *dense : make_dense(*sparse), execution));
    facts_.entries = all;
    facts_.search_columns = 1;
    facts_.work = {0, facts_.rows / kDeviceOperations, facts_.cols / kDeviceOperations, kHostOperations,
                   answer_of(static_cast<double>(all), 4)};
  } else {
    mode_ = sparse_mode(problem.penalty);
    orders_.push_back(order_by_rows(*device_, *sparse, execution));
    orders_.push_back(order_by_columns(*device_, orders_.front(), facts_.rows, facts_.cols));
    const Counts counts = count_observed(problem.observations);
    facts_.entries = sparse->pattern.entries();
    facts_.search_columns = 4;
    const auto entries = static_cast<double>(facts_.entries);
    facts_.work = {0.3, sum_of_squares(counts.col) / entries, sum_of_squares(counts.row) / entries, kHostOperations,
                   answer_of(entries, 28)};
  }
  if (off_pattern()) facts_.off_pattern = lambda_;
  atom_left_ = {*device_, static_cast<std::size_t>(facts_.rows)};
  atom_right_ = {*device_, static_cast<std::size_t>(facts_.cols) + 3};
}

void CudaStore::make_slopes() {
  slopes_wanted_ = true;
  if (!std::exchange(only_rough_, false)) return;
  for (const Order& order : orders_) cuda::linearize(function(), order.arrays(), width_, false, nullptr, stream());
}

EntrySums CudaStore::linearize(double width, bool with_conjugates, const NormalProduct* first) {
  const auto blocks = static_cast<std::size_t>(report_blocks(orders_.front().count));
  const Report report = device_->report(kLinearizeSums, blocks * kLinearizeSums);
  width_ = width;
  rough_slopes_ = first != nullptr && first->rough && full() && facts_.cols <= kLongestFusedRow;
  only_rough_ = !std::exchange(slopes_wanted_, false) && rough_slopes_;
  for (Order& order : orders_) {
    EntryArrays arrays = order.arrays();
    if (rough_slopes_) arrays.rough = room(*device_, order.rough, order.size);
    if (only_rough_) arrays.slope = nullptr;
    const bool reports = &order == &orders_.front();
    cuda::linearize(function(), arrays, width, with_conjugates, reports ? &report : nullptr, stream());
  }
  if (first != nullptr) multiply(Slopes::current, *first);  // on its way while the sums come back
  const double* sums = device_->wait();
  return {sums[0], sums[1], sums[2], sums[3], sums[4]};
}

void CudaStore::shift_kinks(double width) {
  if (!(width > 0)) return;
  const bool of_loss = std::visit(
      [](const auto& loss) {
        using L = std::decay_t<decltype(loss)>;
        return L::has_kink && L::cheap_conjugate;
      },
      loss_);
  const bool of_penalty = mode_ == kernels::Mode::masked_l1;
  if (!of_loss && !of_penalty) return;
  for (Order& order : orders_) {
    if (of_loss) room(*device_, order.loss_shift, order.size);
    if (of_penalty) room(*device_, order.penalty_shift, order.size);
    cuda::shift_kinks(function(), order.arrays(), width, stream());
  }
}

CudaStore::HeldRows CudaStore::rows_of(const FactorView& x) const {
  const auto terms = static_cast<std::size_t>(x.values.size());
  const Eigen::VectorXd values = x.values;
  const DeviceArray<double> factors(*device_, values.data(), terms);
  HeldRows held{{*device_, static_cast<std::size_t>(facts_.rows) * terms},
                {*device_, static_cast<std::size_t>(facts_.cols) * terms},
                {},
                {},
                static_cast<Index>(terms)};
  gather_rows(view(x.left), factors.data(), held.left.data(), stream());
  gather_rows(view(x.right), nullptr, held.right.data(), stream());
  return held;
}

void CudaStore::load(const FactorView& x) {
  const HeldRows at = rows_of(x);
  for_all_orders([&](Order& order) { cuda::load(order.arrays(), at.rows(), order.x.data(), stream()); });
}

void CudaStore::forget_slopes() {
  for (Order& order : orders_) {
    for (DeviceArray<Real>* array :
         {&order.slope, &order.average, &order.average_x, &order.dual, &order.dual_rest, &order.target, &order.trial_x,
          &order.trial_slope, &order.loss_shift, &order.penalty_shift}) {
      *array = {};
    }
  }
}

void CudaStore::watch(const Entries& held_out, const FactorView& x) {
  held_out_ = listed_order(*device_, held_out);
  const HeldRows at = rows_of(x);
  cuda::load(held_out_->arrays(), at.rows(), held_out_->x.data(), stream());
}

HeldOutSums CudaStore::held_out() const {
  const auto blocks = static_cast<std::size_t>(report_blocks(held_out_->count));
  const Report report = device_->report(kHeldOutSums, blocks * kHeldOutSums);
  cuda::held_out(function(), held_out_->arrays(), report, stream());
  const double* sums = device_->wait();
  return {sums[0], sums[1], sums[2]};
}

void CudaStore::exchange(Exchange& state, std::string_view name, std::size_t size, bool needed,
                         DeviceArray<Real>& array) {
  std::vector<Real> numbers(array.size());
  if (!state.restores() && !array.empty()) {
    device_->download(array.data(), numbers.size() * sizeof(Real), numbers.data());
  }
  state.entries(name, numbers);
  if (!state.restores()) return;
  if (numbers.size() != size && (needed || !numbers.empty())) {
    throw Error(ErrorCode::input, fmt::format("the checkpoint has {} numbers '{}' where a CUDA device keeps {}; it was "
                                              "written with another backend, or is damaged",
                                              numbers.size(), name, size));
  }
  array = {};
  if (numbers.empty()) return;
  array = {*device_, numbers.data(), numbers.size()};
  device_->finish();  // before the numbers go
}

bool CudaStore::exchange(Exchange state) {
  for (Order& order : orders_) {
    Exchange part = state.part(order.transposed ? "by_columns" : "by_rows");
    exchange(part, "x", order.size, true, order.x);
    exchange(part, "average", order.size, false, order.average);
    exchange(part, "average_x", order.size, false, order.average_x);
    exchange(part, "loss_shift", order.size, false, order.loss_shift);
    exchange(part, "penalty_shift", order.size, false, order.penalty_shift);
  }
  if (held_out_) {
    Exchange part = state.part("held_out");
    exchange(part, "x", held_out_->size, true, held_out_->x);
  }
  return true;
}

}  // namespace tracenorm::cuda
