#include "cpu/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cpu/panels.hpp"
#include "cpu/passes.hpp"
#include "model/coded_data.hpp"
#include "model/shard_cuts.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::cpu {

CpuStore::CpuStore(const Problem& problem, const Execution& execution, const WholeProblem* whole)
    : loss_(problem.loss),
      execution_(execution),
      lambda_(penalty_lambda(problem.penalty)),
      l1_(std::holds_alternative<L1Penalty>(problem.penalty)) {
  read_problem(problem, whole);
  if (whole != nullptr) {
    shards_ = whole->shards;
  } else if (layout_->symmetric()) {
    cut_triangle();
  } else {
    shards_.emplace(cut_shards(problem));
  }
  if (!factor_shards_) factor_shards_ = shards_->joined();
  const Offset entries = layout_->entries();
  const auto count = static_cast<std::size_t>(entries);
  x_.assign(count, Real(0));
  slope_.assign(count, Real(0));
  facts_ = {layout_->rows(),
            layout_->cols(),
            entries,
            root_mean_square(problem.observations, execution),
            off_pattern() ? lambda_ : 0.0,
            layout_->search_columns(),
            layout_->work()};
  parts_.resize(static_cast<std::size_t>(shards()));
  segment_parts_.resize(parts_.size());
  exact_outputs_.resize(static_cast<std::size_t>(facts_.cols) * static_cast<std::size_t>(shards()));
  search_outputs_.resize(exact_outputs_.size() * static_cast<std::size_t>(facts_.search_columns));
  atom_right_.resize(static_cast<std::size_t>(facts_.cols));
}

void CpuStore::read_problem(const Problem& problem, const WholeProblem* whole) {
  const auto take = [&](kernels::Mode mode, const Array<Real>& value, const Array<Real>& weight) {
    mode_ = mode;
    value_ = value.data();
    weight_ = weight.empty() ? nullptr : weight.data();
  };
  const bool symmetric = problem.constraint.symmetric();
  const auto keep_triangle = [&] {
    const auto keep = [&](const Real*& all, RealArray& stored) {
      if (all == nullptr) return;
      stored.resize(static_cast<std::size_t>(layout_->entries()));
      layout_->take(all, stored.data());
      all = stored.data();
    };
    data_entries_ = mode_ == kernels::Mode::observed || mode_ == kernels::Mode::observed_complement
                        ? observed(problem.observations)
                        : static_cast<Offset>(layout_->rows()) * layout_->cols();
    if (coded_.code == nullptr) keep(value_, stored_value_);
    keep(weight_, stored_weight_);
  };
  const auto take_dense = [&](const DenseObservations& dense) {
    // With an l1 penalty every entry has a kink (at zero); otherwise only observed ones can.
    const bool masks = dense_mode(problem.penalty) != kernels::Mode::masked_l1;
    const DenseValues values = coded_where_possible(dense.value, execution_);
    take(dense_mode(problem.penalty), dense.value.code().empty() ? dense.value.plain() : Array<Real>(), dense.weight);
    layout_ = symmetric ? make_symmetric_layout(dense.rows) : make_dense_layout(dense.rows, dense.cols);
    if (!values.code().empty()) {
      code_ = values.code();
      if (symmetric) {
        std::vector<std::int8_t> stored(static_cast<std::size_t>(layout_->entries()));
        layout_->take(code_.data(), stored.data());
        code_ = std::move(stored);
        value_ = nullptr;
      }
      coded_ = {code_.data(), values.offset(), values.scale()};
      if (masks && value_ == nullptr) {
        stored_value_.resize(static_cast<std::size_t>(layout_->entries()));
        kernels::linear_kernels().decode(coded_, layout_->entries(), stored_value_.data());
        value_ = stored_value_.data();
      }
    }
    if (symmetric) keep_triangle();
    if (masks) kink_mask_ = value_;
  };
  if (const auto* dense = std::get_if<DenseObservations>(&problem.observations)) return take_dense(*dense);
  const auto& sparse = std::get<SparseObservations>(problem.observations);
  if (l1_ && lambda_ > 0) {  // it acts on all entries
    owned_ = std::make_unique<DenseObservations>(make_dense(sparse));
    owned_->value = coded_where_possible(owned_->value, execution_);
    take_dense(*owned_);
    if (symmetric) owned_.reset();
    return;
  }
  take(sparse_mode(problem.penalty), sparse.value, sparse.weight);
  layout_ = symmetric ? make_symmetric_layout(sparse.pattern, execution_)
                      : make_sparse_layout(sparse.pattern, execution_,
                                           whole != nullptr ? &whole->entries_of_columns : nullptr);
  if (symmetric) keep_triangle();
}

void CpuStore::cut_triangle() {
  const Index rows = layout_->stored_rows();
  const auto part_shards = [&](ShardCuts cuts) {  // its parts are cut apart
    for (Index part = layout_->rows(); part < rows; part += layout_->rows()) {
      const auto place = std::lower_bound(cuts.rows.begin(), cuts.rows.end(), part);
      if (*place != part) cuts.rows.insert(place, part);
    }
    return Shards(std::move(cuts));
  };
  const ShardCuts cuts = cut_shards(rows, layout_->cols(), layout_->entries(), layout_->row_begins());
  shards_ = part_shards(cuts);
  factor_shards_ = part_shards(cuts.joined());
}

Shards CpuStore::panel_shards() const { return layout_->symmetric() ? Shards(ShardCuts{{0, facts_.rows}}) : *shards_; }

kernels::EntryRange CpuStore::range(Offset from, Offset to, const Real* x, Real* slope) const {
  const EntryData own = data(from, to);
  return {own.y, own.w, x, slope, own.count, lambda_, own.coded};
}

void CpuStore::decode(kernels::EntryRange& r, RealArray& buffer) const {
  if (r.y != nullptr) return;
  buffer.resize(static_cast<std::size_t>(r.count));
  kernels::linear_kernels().decode(r.coded, r.count, buffer.data());
  r.y = buffer.data();
}

EntrySums CpuStore::linearize(double width, bool with_conjugates, const NormalProduct* first) {
  if (slope_.empty()) {  // they were left, and a target that was met has their memory
    if (aimed_at_ == Aim::met) slope_.swap(target_);
    slope_.resize(x_.size());
  }
  const Index columns = first != nullptr ? first->in.columns() : 0;
  const auto outputs = static_cast<std::size_t>(facts_.cols) * static_cast<std::size_t>(columns);
  const EntrySums sums = visit_loss([&](const auto& loss, const auto& table) {
    const bool coded = !with_conjugates && coded_.code != nullptr && table.linearize_coded != nullptr;
    const auto kernel = coded ? table.linearize_coded : with_conjugates ? table.linearize_conjugate : table.linearize;
    return sum_over_shards([&](int s, Offset, Offset) {
      EntrySums part;
      ShiftedPlaces places;
      RealArray decoded;
      Real* out = search_outputs_.data() + static_cast<std::size_t>(s) * outputs;
      std::fill_n(out, outputs, Real(0));
      for_row_blocks(s, [&](RowRange rows) {
        const Offset from = layout_->row_begin(rows.first);
        kernels::EntryRange r = range(from, layout_->row_begin(rows.last), x_.data() + from, slope_.data() + from);
        if (!coded) decode(r, decoded);
        shift(r, from, width, places);
        part += kernel(loss, r, width);
        if (first == nullptr) return;
        if (layout_->symmetric()) return layout_->apply_symmetric(rows, slope_.data(), reals(first->in), out);
        layout_->normal(rows, slope_.data(), reals(first->in), columns,
                        {reals(first->factor), reals(first->addend), reals(first->product)}, out);
      });
      return part;
    });
  });
  if (first == nullptr) return sums;
  const Panel& out = layout_->symmetric() ? first->product : first->out;
  if (out) add_outputs(search_outputs_, columns, reals(out));
  if (layout_->symmetric()) finish_rows(*first);
  return sums;
}

EntrySums CpuStore::value_at(const RealArray& x) const {
  return visit_loss([&](const auto& loss, const auto& table) {
    return sum_over_shards([&](int, Offset from, Offset to) {
      EntrySums part;
      RealArray decoded;
      for (Offset first = from; first < to; first += kBlockEntries) {
        kernels::EntryRange r = range(first, std::min(to, first + kBlockEntries), x.data() + first, nullptr);
        decode(r, decoded);
        part.objective += table.objective(loss, r);
      }
      if (!off_pattern()) return part;
      for (auto e = static_cast<std::size_t>(from); e < static_cast<std::size_t>(to); ++e) {
        part.square_x += double(x[e]) * double(x[e]);
      }
      return part;
    });
  });
}

ExactFactors::ExactFactors(const FactorView& x)
    : left(columns(x.left).data(), x.left.rows(), x.left.columns()), values(x.values), right(columns(x.right)) {
  const double unit = std::numeric_limits<double>::epsilon();
  // Column by column, so that a row's number does not depend on which rows are beside it.
  left_error.setZero(left.rows());
  right_error.setZero(right.rows());
  for (Eigen::Index k = 0; k < values.size(); ++k) {
    left_error += std::abs(values[k]) * left.col(k).cwiseAbs2();
    right_error += std::abs(values[k]) * right.col(k).cwiseAbs2();
  }
  left_error = (static_cast<double>(values.size()) + 4) * unit * left_error.cwiseSqrt();
  right_error = right_error.cwiseSqrt();
}

void CpuStore::load(const FactorView& x) {
  const ExactFactors factors(x);
  for_each_shard([&](int s) {
    std::vector<double> at;
    for_row_blocks(s, [&](RowRange rows) {
      const Offset from = layout_->row_begin(rows.first);
      at.resize(static_cast<std::size_t>(layout_->row_begin(rows.last) - from));
      layout_->load(rows, factors, at.data(), nullptr);
      std::transform(at.begin(), at.end(), x_.begin() + from, [](double exact) { return Real(exact); });
    });
  });
  held_out_.load(x, execution_);
}

EntrySums CpuStore::objective(const FactorView& x) const {
  const ExactFactors factors(x);
  return sum_over_shards([&](int s, Offset, Offset) {
    EntrySums part;
    std::vector<double> at;
    std::vector<double> error;
    for_row_blocks(s, [&](RowRange rows) {
      const Offset from = layout_->row_begin(rows.first);
      const Offset to = layout_->row_begin(rows.last);
      at.resize(static_cast<std::size_t>(to - from));
      error.resize(at.size());
      layout_->load(rows, factors, at.data(), error.data());
      part += bounds().values(data(from, to), at.data(), error.data());
    });
    return part;
  });
}

std::vector<Real> CpuStore::dual_slopes() const {
  const RealArray& stored = off_pattern() ? dual_ : *dual_of_;
  if (!layout_->symmetric()) return stored;
  std::vector<Real> slopes(static_cast<std::size_t>(data_entries_));
  layout_->give(stored.data(), slopes.data());
  return slopes;
}

void CpuStore::forget_slopes() {
  for (RealArray* array : {&slope_, &average_, &average_x_, &dual_, &dual_rest_, &loss_shift_, &penalty_shift_,
                           &target_, &factor_outputs_}) {
    RealArray().swap(*array);  // an assignment of nothing would keep the memory
  }
}

void CpuStore::leave_slopes() {
  RealArray().swap(slope_);
  RealArray().swap(target_);
}

void CpuStore::watch(const Entries& held_out, const FactorView& x) {
  held_out_.watch(held_out, panel_shards());
  held_out_.load(x, execution_);
}

HeldOutSums CpuStore::held_out() const { return held_out_.sums(loss_, execution_); }

bool CpuStore::exchange(Exchange state) {
  RealArray x = x_;
  state.entries("x", x);
  held_out_.exchange(state.part("held_out"));
  state.entries("average", average_);
  state.entries("average_x", average_x_);
  state.entries("loss_shift", loss_shift_);
  state.entries("penalty_shift", penalty_shift_);
  if (x.size() != x_.size()) throw Error(ErrorCode::input, "the checkpoint has no X for every entry; it is damaged");
  x_ = std::move(x);
  for (const RealArray* array : {&average_, &average_x_, &loss_shift_, &penalty_shift_}) {
    if (!array->empty() && array->size() != x_.size()) {
      throw Error(ErrorCode::input,
                  fmt::format("the checkpoint has {} numbers for {} entries; it is damaged", array->size(), x_.size()));
    }
  }
  return true;
}

}  // namespace tracenorm::cpu
