// Entries of a matrix in units of their own, and the problems that settings make of them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/execution.hpp"
#include "fit/value_range.hpp"
#include "model/coded_data.hpp"
#include "model/offsets.hpp"
#include "model/side_sums.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/fit.hpp"

namespace tracenorm {

/// Entries with what is needed to make problems of them.
class PartOfData {
 public:
  PartOfData(const FitOptions& options, SparseObservations raw, const Execution& execution)
      : units_{.kind = Preparation::Kind::both}, data_(std::move(raw)), execution_(execution) {
    if (all_entries(data_) == 0) throw Error(ErrorCode::input, "there are no values to fit a preparation to");
    const Shrinkage shrinkage = fit_offsets(units_, averaging_for(*options.loss), data_, execution);
    // For losses with the curvature 1 an offset of n entries is then their mean times n / (n + shrinkage).
    constexpr double least = 0.5;
    ridge_ = {std::max(least, shrinkage.row / 2), std::max(least, shrinkage.col / 2)};
    start_ = {std::exchange(units_.row_offset, {}), std::exchange(units_.col_offset, {})};
    for (std::vector<double>* side : {&start_.row, &start_.col}) {
      for (double& offset : *side) offset /= units_.scale;
    }
    units_.range = range_for(options.clip, {data_.value.data(), data_.value.size()}, ranks_of(data_), execution);
    ball_ = weighted_ball(0, {*options.norm_power, options.norm_smoothing}, data_, execution.threads());
    raw_ = coded_where_possible(data_.value, execution);
    data_.value = prepared(units_);
  }

  [[nodiscard]] const Preparation& units() const { return units_; }
  [[nodiscard]] const SideOffsets& start() const { return start_; }
  [[nodiscard]] const OffsetRidge& ridge() const { return ridge_; }
  /// In these units.
  [[nodiscard]] const SparseObservations& data() const { return data_; }
  /// As they were given.
  [[nodiscard]] SparseObservations raw() const { return with_values(raw_.plain()); }
  /// Lets go of the values in raw units: no other problem will be made of them.
  void forget_raw() { raw_ = {}; }
  [[nodiscard]] const Execution& execution() const { return execution_; }

  /// Over X and offsets.
  [[nodiscard]] Problem joint(const Loss& loss, double radius) const {
    return {data_, loss, NoPenalty{}, ball(radius), ridge_};
  }
  /// The units with these offsets.
  [[nodiscard]] Preparation with(const SideOffsets& offsets) const {
    Preparation preparation = units_;
    preparation.row_offset = offsets.row;
    preparation.col_offset = offsets.col;
    for (std::vector<double>* side : {&preparation.row_offset, &preparation.col_offset}) {
      for (double& offset : *side) offset *= units_.scale;
    }
    return preparation;
  }
  /// Over X, of data prepared like that.
  [[nodiscard]] Problem given(const Loss& loss, double radius, const Preparation& preparation) const {
    return {with_values(prepared(preparation)), loss, NoPenalty{}, ball(radius)};
  }

  /// value(row, column, entry) of every entry.
  template <class Value>
  void for_each(const Value& value) const {
    visit_rows(data_, [&]<class Column>(const EntriesByRow<Column>& entries) {
      SideSums<Column>(entries, execution_).for_each([&](int, Index i, Index j, std::size_t e) { value(i, j, e); });
    });
  }

 private:
  [[nodiscard]] SparseObservations with_values(Array<Real> values) const {
    SparseObservations changed = data_;
    changed.value = std::move(values);
    return changed;
  }
  [[nodiscard]] TraceNormBall ball(double radius) const {
    TraceNormBall result = ball_;
    result.radius = radius;
    return result;
  }
  [[nodiscard]] std::vector<Real> prepared(const Preparation& preparation) const {
    std::vector<Real> value(raw_.size());
    for_each([&](Index i, Index j, std::size_t e) { value[e] = Real(preparation.apply(double(raw_[e]), i, j)); });
    return value;
  }

  Preparation units_;
  OffsetRidge ridge_;
  SideOffsets start_;
  SparseObservations data_;
  DenseValues raw_;  // ratings take a byte each: they are there while all else is
  TraceNormBall ball_;
  const Execution& execution_;
};

}  // namespace tracenorm
