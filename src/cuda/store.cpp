#include "cuda/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "cuda/panels.hpp"
#include "cuda/rough.hpp"
#include "model/entry_functions.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::cuda {

namespace {

/// Values and conjugates are a few operations each, and the tree that adds up the sums of threads is about thirty
/// additions deep: what comes of it is off by less than this, relative to the terms.
constexpr double kRounding = 128 * std::numeric_limits<double>::epsilon();

/// Makes the array at least that long; what was there may be lost.
template <class T>
T* room(Device& device, DeviceArray<T>& array, std::size_t size) {
  if (array.size() < size) array = {device, size};
  return array.data();
}

template <class V>
V* data_of(const Panel& panel) {
  if constexpr (std::is_same_v<V, double>) {
    return doubles(panel);
  } else {
    return reals(panel);
  }
}

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
    orders_.push_back(full_order(*device_, dense != nullptr ? *dense : make_dense(*sparse)));
    facts_.entries = all;
    facts_.search_columns = 1;
    facts_.work = {0, facts_.rows / kDeviceOperations, facts_.cols / kDeviceOperations, kHostOperations,
                   answer_of(static_cast<double>(all), 4)};
  } else {
    mode_ = sparse_mode(problem.penalty);
    orders_.push_back(order_by_rows(*device_, *sparse));
    orders_.push_back(order_by_columns(*device_, *sparse));
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

template <class Work>
const double* CudaStore::sum(int numbers, Work&& work) const {
  const Order& first = orders_.front();
  const auto blocks = std::max(static_cast<std::size_t>(report_blocks(first.count)), first.shares.size());
  const Report report = device_->report(static_cast<std::size_t>(numbers), blocks * static_cast<std::size_t>(numbers));
  for (const Order& order : orders_) work(order, &order == &orders_.front() ? &report : nullptr);
  return device_->wait();
}

template <class Work>
void CudaStore::for_all_orders(Work&& work) {
  for (Order& order : orders_) work(order);
  if (held_out_) work(*held_out_);
}

const DeviceArray<Real>& CudaStore::kept_slopes(const Order& order, Slopes which) const {
  if (which == Slopes::dual && off_pattern()) return order.dual_rest;
  if (which == Slopes::dual) which = dual_of_;
  return which == Slopes::average ? order.average : order.slope;
}

const Real* CudaStore::slopes(const Order& order, Slopes which) {
  const DeviceArray<Real>& kept = kept_slopes(order, which);
  if (&kept == &order.slope) make_slopes();
  return kept.data();
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

void CudaStore::take_atom(const Product& atom) {
  narrow(view(atom.left), atom_left_.data(), view(atom.right), atom_right_.data(), stream());
}

void CudaStore::aim(const Product& target) {
  atom_aimed_ = target.left.use() == Use::exact;
  if (atom_aimed_) return take_atom(target);
  for_all_orders([&](Order& order) {
    Real* to = room(*device_, order.target, order.size);
    cuda::load(order.arrays(), reals(target.left), reals(target.right), target.left.columns(), 1, to, stream());
  });
}

EntrySums CudaStore::aim_without(const Product& term, double scale, std::optional<double> width) {
  atom_aimed_ = false;
  if (width) make_slopes();
  take_atom(term);
  const Atom atom{atom_left_.data(), atom_right_.data()};
  for_all_orders([&](Order& order) { room(*device_, order.target, order.size); });
  const double* at_width = width ? &*width : nullptr;
  if (held_out_) cuda::aim_without(function(), held_out_->arrays(), atom, scale, at_width, nullptr, stream());
  const double* sums = sum(kAimSums, [&](const Order& order, const Report* report) {
    cuda::aim_without(function(), order.arrays(), atom, scale, at_width, report, stream());
  });
  EntrySums result;
  result.objective = sums[0];
  result.inner = sums[1];
  result.square_x = off_pattern() ? sums[2] : 0.0;
  return result;
}

SegmentSums CudaStore::segment(std::span<const double> t, std::optional<double> width) {
  assert(!t.empty() && t.size() <= kSegmentPoints);
  SegmentTimes times{};
  for (std::size_t p = 0; p < kSegmentPoints; ++p) times.t[p] = Real(t[std::min(p, t.size() - 1)]);
  const Atom atom = atom_aimed_ ? Atom{atom_left_.data(), atom_right_.data()} : Atom{};
  const double* sums = sum(kSegmentSums, [&](const Order& order, const Report* report) {
    if (report == nullptr) return;
    cuda::segment(function(), order.arrays(), atom, times, width ? &*width : nullptr, *report, stream());
  });
  SegmentSums result;
  std::copy_n(sums, kSegmentPoints, result.value);
  std::copy_n(sums + kSegmentPoints, kSegmentPoints, result.derivative);
  std::copy_n(sums + 2 * kSegmentPoints, kSegmentPoints, result.square);
  std::copy_n(sums + 3 * kSegmentPoints, kSegmentPoints, result.square_derivative);
  return result;
}

double CudaStore::move(double t) {
  const Atom atom = atom_aimed_ ? Atom{atom_left_.data(), atom_right_.data()} : Atom{};
  // With an l1 penalty every entry has a kink (at zero); otherwise only observed ones can, as all of a pattern are.
  const bool all = !full() || mode_ == kernels::Mode::masked_l1;
  if (held_out_) cuda::move(held_out_->arrays(), atom, t, true, nullptr, stream());
  return *sum(1, [&](const Order& order, const Report* report) {
    if (atom_aimed_ && !order.shares.empty()) {
      const AtomAlongPieces along =
          order.transposed ? AtomAlongPieces{atom.right, atom.left} : AtomAlongPieces{atom.left, atom.right};
      return cuda::move(order.sparse(nullptr), order.dealt(), along, order.x.data(), t, report, stream());
    }
    cuda::move(order.arrays(), atom, t, all, report, stream());
  });
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

void CudaStore::add_errors(const FactorView& x, HeldRows& rows) const {
  const auto terms = static_cast<std::size_t>(x.values.size());
  const Eigen::VectorXd root = x.values.cwiseAbs().cwiseSqrt();
  const DeviceArray<double> factors(*device_, root.data(), terms);
  const auto lengths = [&](const Panel& panel, double factor) {
    const auto count = static_cast<std::size_t>(panel.rows());
    const DeviceArray<double> scaled(*device_, count * terms);
    DeviceArray<double> error(*device_, count);
    gather_rows(view(panel), factors.data(), scaled.data(), stream());
    row_lengths(scaled.data(), panel.rows(), rows.columns, factor, error.data(), stream());
    return error;
  };
  // As cpu::ExactFactors: a dot product of n terms is off by n units of the product of two lengths.
  const double unit = std::numeric_limits<double>::epsilon();
  rows.left_error = lengths(x.left, (static_cast<double>(terms) + 4) * unit);
  rows.right_error = lengths(x.right, 1);
}

void CudaStore::load(const FactorView& x) {
  const HeldRows at = rows_of(x);
  for_all_orders([&](Order& order) { cuda::load(order.arrays(), at.rows(), order.x.data(), stream()); });
}

EntrySums CudaStore::objective(const FactorView& x) const {
  HeldRows at = rows_of(x);
  add_errors(x, at);
  const double* sums = sum(kValueSums, [&](const Order& order, const Report* report) {
    if (report != nullptr) values(function(), order.arrays(), at.rows(), *report, stream());
  });
  EntrySums result;
  result.objective = sums[3] > 0 ? std::numeric_limits<double>::quiet_NaN() : sums[0];
  result.square_x = sums[1];
  result.rounding = kRounding * sums[2];
  // Near the smallest numbers rounding is no longer relative.
  if (sums[2] > 0) result.rounding += static_cast<double>(facts_.entries) * std::numeric_limits<double>::min();
  return result;
}

void CudaStore::multiply_blocks(const Order& order, const Real* m, bool transposed, const Real* in, Index columns,
                                Real* out) {
  const auto width = static_cast<std::size_t>(columns);
  if (full()) {
    const auto outputs = static_cast<std::size_t>(transposed ? facts_.cols : facts_.rows);
    Real* parts = room(*device_, real_parts_, kBlockParts * outputs * width);
    block_times(order.full(m), transposed, in, columns, out, parts, stream());
  } else {
    Real* parts = room(*device_, real_parts_, static_cast<std::size_t>(order.pieces) * width);
    block_times(order.sparse(m), in, columns, out, parts, stream());
  }
}

EntrySums CudaStore::factor_gradient(const Product& at, double scale, double width, const Product& products) {
  const Index columns = at.left.columns();
  for (Order& order : orders_) {
    Real* x = room(*device_, order.trial_x, order.size);
    room(*device_, order.trial_slope, order.size);
    cuda::load(order.arrays(), reals(at.left), reals(at.right), columns, scale, x, stream());
  }
  const double* sums = sum(kLinearizeSums, [&](const Order& order, const Report* report) {
    EntryArrays there = order.arrays();
    there.x = order.trial_x.data();
    there.slope = order.trial_slope.data();
    cuda::linearize(function(), there, width, false, report, stream());
  });
  const EntrySums result{sums[0], sums[1], 0, sums[3], sums[4]};
  multiply_blocks(orders_.front(), orders_.front().trial_slope.data(), false, reals(at.right), columns,
                  reals(products.left));
  multiply_blocks(orders_.back(), orders_.back().trial_slope.data(), true, reals(at.left), columns,
                  reals(products.right));
  return result;
}

void CudaStore::multiply(Slopes which, const Product& in, const Product& out) {
  const Index columns = in.left.columns();
  multiply_blocks(orders_.front(), slopes(orders_.front(), which), false, reals(in.right), columns, reals(out.left));
  multiply_blocks(orders_.back(), slopes(orders_.back(), which), true, reals(in.left), columns, reals(out.right));
}

void CudaStore::multiply(Slopes which, const Panel& in, const Panel& out) {
  const bool transposed = in.side() == Side::left;
  const Order& order = transposed ? orders_.back() : orders_.front();
  const Real* m = slopes(order, which);
  for (Index k = 0; k < in.columns(); ++k) {
    const double* from = doubles(in.column(k));
    RowTerms<double> terms;
    terms.out = doubles(out.column(k));
    if (!full()) {
      double* parts = room(*device_, double_parts_, static_cast<std::size_t>(order.pieces));
      times(order.sparse(m), from, 1, terms, parts, stream());
    } else if (transposed) {
      double* parts = room(*device_, double_parts_, static_cast<std::size_t>(kFullParts) * std::size_t(order.pitch));
      times_transposed(order.full(m), from, terms.out, parts, stream());
    } else {
      times(order.full(m), from, terms, stream());
    }
  }
}

template <class V>
void CudaStore::multiply_normal(Slopes which, const NormalProduct& p) {
  constexpr bool exact = std::is_same_v<V, double>;
  const auto choose = [](auto& in_real, auto& in_double) -> auto& {
    if constexpr (exact) {
      return in_double;
    } else {
      return in_real;
    }
  };
  DeviceArray<V>& parts = choose(real_parts_, double_parts_);
  DeviceArray<V>& rows = choose(real_rows_, double_rows_);
  const auto vectors = static_cast<std::size_t>(p.in.columns());
  const Order& by_rows = orders_.front();
  RowTerms<V> terms{data_of<V>(p.factor), data_of<V>(p.addend), data_of<V>(p.product)};
  if (p.out) terms.out = room(*device_, rows, static_cast<std::size_t>(facts_.rows) * vectors);
  RowTerms<V> back;
  back.out = data_of<V>(p.out);
  if (!full()) {
    const auto pieces = static_cast<std::size_t>(std::max(by_rows.pieces, orders_.back().pieces));
    room(*device_, parts, pieces * vectors);
    times(by_rows.sparse(slopes(by_rows, which)), data_of<V>(p.in), p.in.columns(), terms, parts.data(), stream());
    if (!p.out) return;
    times(orders_.back().sparse(slopes(orders_.back(), which)), static_cast<const V*>(terms.out), p.in.columns(), back,
          parts.data(), stream());
    return;
  }
  const FullRows m = by_rows.full(slopes(by_rows, which));
  room(*device_, parts, static_cast<std::size_t>(kFullParts) * static_cast<std::size_t>(m.pitch));
  if constexpr (!exact) {
    if (p.out && m.pitch <= kLongestFusedRow) return normal(m, reals(p.in), terms, back.out, parts.data(), stream());
  }
  times(m, static_cast<const V*>(data_of<V>(p.in)), terms, stream());
  if (!p.out) return;
  times_transposed(m, static_cast<const V*>(terms.out), back.out, parts.data(), stream());
}

bool CudaStore::multiply_roughly(Slopes which, const NormalProduct& p) {
  const Order& by_rows = orders_.front();
  const Order& by_columns = orders_.back();
  RowTerms<Real> terms{reals(p.factor), reals(p.addend), reals(p.product)};
  if (full()) {
    if (which != Slopes::current || !rough_slopes_) return false;
    Real* parts = room(*device_, real_parts_, static_cast<std::size_t>(kFullParts) * std::size_t(by_rows.pitch));
    rough_normal(by_rows.full(nullptr), by_rows.rough.data(), reals(p.in), terms, reals(p.out), parts, stream());
    return true;
  }
  if (p.in.columns() != kRoughVectors || by_rows.shares.empty() || by_columns.shares.empty()) return false;
  const auto pieces = static_cast<std::size_t>(std::max(by_rows.pieces, by_columns.pieces));
  Real* parts = room(*device_, real_parts_, pieces * kRoughVectors);
  if (p.out) {
    terms.rough = room(*device_, rough_rows_, static_cast<std::size_t>(facts_.rows) * kRoughVectors);
  }
  rough_times(by_rows.sparse(slopes(by_rows, which)), by_rows.dealt(), reals(p.in), terms, parts, stream());
  if (!p.out) return true;
  RowTerms<Real> back;
  back.out = reals(p.out);
  rough_times(by_columns.sparse(slopes(by_columns, which)), by_columns.dealt(), rough_rows_.data(), back, parts,
              stream());
  return true;
}

void CudaStore::multiply(Slopes which, const NormalProduct& product) {
  if (product.in.use() == Use::exact) return multiply_normal<double>(which, product);
  if (product.rough && multiply_roughly(which, product)) return;
  multiply_normal<Real>(which, product);
}

void CudaStore::average(double t) {
  make_slopes();
  for (Order& order : orders_) {
    const auto follow = [&](DeviceArray<Real>& mean, const DeviceArray<Real>& now) {
      if (!mean.empty()) return blend(mean.data(), now.data(), order.count, t, stream());
      mean = {*device_, order.size};
      blend(mean.data(), now.data(), order.count, 1, stream());
    };
    follow(order.average, order.slope);
    // With a penalty off the pattern the slopes are stored less 2 lambda x; the x of then is averaged beside them.
    if (off_pattern()) follow(order.average_x, order.x);
  }
}

EntrySums CudaStore::conjugates(Slopes which, const FactorView* x) {
  if (off_pattern() && which != Slopes::zero) return conjugates_off_pattern(which, *x);
  if (which != Slopes::zero) dual_of_ = which;
  if (which == Slopes::current) {
    make_slopes();
    rough_slopes_ = false;
  }
  const double* sums = sum(kConjugateSums, [&](const Order& order, const Report* report) {
    if (which == Slopes::zero && report == nullptr) return;
    Real* slope = which == Slopes::zero      ? nullptr
                  : which == Slopes::average ? order.average.data()
                                             : order.slope.data();
    cuda::conjugates(function(), order.arrays(), slope, report, stream());
  });
  EntrySums result;
  result.conjugate = sums[0];
  result.square_slope = sums[1];
  result.rounding = kRounding * sums[2];
  return result;
}

EntrySums CudaStore::conjugates_off_pattern(Slopes which, const FactorView& x) {
  // Stored are slopes less 2 lambda x, of the x of then; the loss's own are those that have conjugates.
  const HeldRows at = rows_of(x);
  for (Order& order : orders_) {
    room(*device_, order.dual, order.size);
    room(*device_, order.dual_rest, order.size);
    const bool mean = which == Slopes::average;
    dual_of((mean ? order.average : order.slope).data(), (mean ? order.average_x : order.x).data(), 2 * lambda_,
            order.dual.data(), order.count, stream());
  }
  const double* sums = sum(kConjugateSums, [&](const Order& order, const Report* report) {
    cuda::conjugates(function(), order.arrays(), order.dual.data(), report, stream());
  });
  EntrySums result;
  result.conjugate = sums[0];
  result.rounding = kRounding * sums[2];
  sums = sum(kRestSums, [&](const Order& order, const Report* report) {
    cuda::dual_rest(order.arrays(), at.rows(), 2 * lambda_, order.dual.data(), order.dual_rest.data(), report,
                    stream());
  });
  result.square_x = sums[0];
  result.square_slope = sums[1];
  return result;
}

std::vector<Real> CudaStore::dual_slopes() const {
  const Order& order = orders_.front();
  const Real* from = off_pattern() ? order.dual.data() : kept_slopes(order, Slopes::dual).data();
  std::vector<Real> all(static_cast<std::size_t>(order.count));
  device_->download(from, all.size() * sizeof(Real), all.data());
  if (!full()) return all;
  const auto pitch = static_cast<std::size_t>(order.pitch);
  const auto cols = static_cast<std::size_t>(order.cols);
  for (std::size_t i = 1; i < static_cast<std::size_t>(order.rows); ++i) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(i * pitch), cols,
                all.begin() + static_cast<std::ptrdiff_t>(i * cols));
  }
  all.resize(static_cast<std::size_t>(order.rows) * cols);
  return all;
}

Eigen::MatrixXd CudaStore::gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) {
  const bool of_rows = side == Side::left;
  const Index length = of_rows ? facts_.rows : facts_.cols;
  const DeviceArray<double> there(*device_, static_cast<std::size_t>(length) * static_cast<std::size_t>(length));
  const double* left = doubles(row_factor);
  const double* right = doubles(col_factor);
  const Order& by_rows = orders_.front();
  const Order& by_columns = orders_.back();
  if (full()) {
    cuda::gram(by_rows.full(slopes(by_rows, which)), of_rows, left, right, there.data(), stream());
  } else {
    const SparseRows rows = by_rows.sparse(slopes(by_rows, which));
    const SparseRows columns = by_columns.sparse(slopes(by_columns, which));
    cuda::gram(of_rows ? rows : columns, of_rows ? columns : rows, of_rows ? left : right, of_rows ? right : left,
               there.data(), stream());
  }
  Eigen::MatrixXd out(length, length);
  device_->download(there.data(), there.size() * sizeof(double), out.data());
  return out;
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

HeldOutSums CudaStore::held_out() const {
  const auto blocks = static_cast<std::size_t>(report_blocks(held_out_->count));
  const Report report = device_->report(kHeldOutSums, blocks * kHeldOutSums);
  cuda::held_out(function(), held_out_->arrays(), report, stream());
  const double* sums = device_->wait();
  return {sums[0], sums[1], sums[2]};
}

}  // namespace tracenorm::cuda
