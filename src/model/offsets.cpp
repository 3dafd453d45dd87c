#include "model/offsets.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/among_ranks.hpp"
#include "base/grouping.hpp"
#include "model/side_sums.hpp"

namespace tracenorm {

namespace {

/// Shrinkage when offsets hardly differ: as many entries as this would count as nothing.
constexpr double kMostShrinkage = 1e6;

/// A row's say in how much offsets differ: more entries than this add nothing.
constexpr double kFullSay = 20;

/// Residuals up to kFullWeight scales count fully, from kNoWeight scales on not at all, linearly between (Hampel).
constexpr double kFullWeight = 3;
constexpr double kNoWeight = 4;

/// The median of absolute values of normal noise, times this, is its standard deviation.
constexpr double kMedianToDeviation = 1.4826;

constexpr int kMostRounds = 50;
constexpr double kConverged = 1e-5;  // change of any offset, in scales

/// A median of about this many values is off by a third of a per cent of a deviation: near enough for a start and for
/// weights, and quick enough for all rounds.
constexpr std::size_t kMedianSample = std::size_t{1} << 17U;

/// The middle one; `values` is reordered. Zero of none.
double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Column>
class OffsetFit {
 public:
  OffsetFit(Preparation& preparation, Averaging averaging, const EntriesByRow<Column>& entries, const Real* value,
            const Execution& execution)
      : p_(preparation),
        robust_(averaging == Averaging::robust),
        entries_(entries),
        value_(value),
        execution_(execution),
        side_(entries, execution),
        count_(static_cast<std::size_t>(entries.entries())),
        first_(static_cast<std::size_t>(entries.first_entry())),
        stride_(std::max<std::size_t>(1, static_cast<std::size_t>(entries.all_entries()) / kMedianSample)) {
    using Kind = Preparation::Kind;
    std::vector<double>& rows = p_.kind != Kind::columns ? p_.row_offset : none_;
    std::vector<double>& cols = p_.kind != Kind::rows ? p_.col_offset : none_;
    rows.assign(static_cast<std::size_t>(entries.all_rows()), 0.0);
    cols.assign(static_cast<std::size_t>(entries.cols), 0.0);
    row_offset_ = rows.data();
    col_offset_ = cols.data();
  }

  Shrinkage run() {
    if (robust_) start_from_medians();
    weight_.assign(robust_ ? count_ : 0, Real(1));
    for (int round = 0; round < kMostRounds; ++round) {
      const double scale = robust_ ? scale_of_residuals() : residual_deviation();
      if (scale == 0) break;  // the offsets explain everything
      noise_ = scale * scale;
      const double change = std::max({center(scale), average_rows(), average_cols()});
      if (change <= kConverged * scale) break;
    }
    measure_scale();
    return shrinkage_;
  }

 private:
  [[nodiscard]] double residual(Index i, Index j, std::size_t e) const {
    return double(value_[e]) - (p_.offset + row_offset_[i] + col_offset_[j]);
  }
  [[nodiscard]] double weight(std::size_t e) const { return robust_ ? double(weight_[e]) : 1.0; }

  /// Redescending weights need a start that outliers have not moved: medians of all, of columns, of rows.
  void start_from_medians() {
    std::vector<double> sample;
    for (std::size_t e = next_in_sample(0); e < count_; e += stride_) sample.push_back(double(value_[e]));
    sample = gathered(std::move(sample), entries_.ranks());
    p_.offset = median(sample);
    if (!p_.col_offset.empty()) {
      Grouping<Column> columns({entries_.col, count_}, entries_.cols, execution_);
      std::vector<Real> grouped(count_);
      columns.place([&](std::size_t e, std::size_t place) { grouped[place] = value_[e]; });
      std::vector<Offset> begin = std::move(columns.begin());
      if (entries_.shared != nullptr) take_columns(begin, grouped);
      set_medians(p_.col_offset, begin, [&](std::size_t, Offset k) {
        return double(Real(double(grouped[static_cast<std::size_t>(k)]) - p_.offset));
      });
    }
    if (!p_.row_offset.empty()) {
      set_medians(p_.row_offset, {entries_.begin, entries_.begin + entries_.rows + 1}, [&](std::size_t i, Offset e) {
        const auto row = static_cast<Index>(i) + entries_.first_row();
        return double(Real(residual(row, static_cast<Index>(entries_.col[e]), static_cast<std::size_t>(e))));
      });
    }
  }

  /// From the values of all columns in the rows here to those of some columns in all rows: each rank takes columns of
  /// about as many entries, in their order.
  void take_columns(std::vector<Offset>& begin, std::vector<Real>& grouped) const {
    const SharedRows& shared = *entries_.shared;
    std::vector<Offset> all(shared.in_columns().size() + 1, 0);
    std::partial_sum(shared.in_columns().begin(), shared.in_columns().end(), all.begin() + 1);
    const auto size = static_cast<std::size_t>(shared.ranks().size());
    std::vector<Index> cuts = cut_rows_into(shared.ranks().size(), entries_.cols, all.back(), all.data());
    cuts.resize(size + 1, entries_.cols);
    std::vector<Offset> counts(begin.size() - 1);
    for (std::size_t j = 0; j < counts.size(); ++j) counts[j] = begin[j + 1] - begin[j];
    std::vector<std::size_t> columns_to(size);
    std::vector<std::size_t> values_to(size);
    for (std::size_t r = 0; r < size; ++r) {
      const auto [first, last] = std::pair(static_cast<std::size_t>(cuts[r]), static_cast<std::size_t>(cuts[r + 1]));
      columns_to[r] = last - first;
      values_to[r] = static_cast<std::size_t>(begin[last] - begin[first]);
    }
    const std::vector<Real> values = traded(std::span<const Real>(grouped), values_to, shared.ranks());
    counts = traded(std::span<const Offset>(counts), columns_to, shared.ranks());
    const std::size_t columns = columns_to[static_cast<std::size_t>(shared.ranks().rank())];
    begin.assign(columns + 1, 0);
    for (std::size_t k = 0; k < counts.size(); ++k) begin[k % columns + 1] += counts[k];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    grouped.resize(values.size());
    std::vector<Offset> next(begin.begin(), begin.end() - 1);
    std::size_t from = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {  // rank by rank the columns here
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(from), counts[k],
                  grouped.begin() + static_cast<std::ptrdiff_t>(next[k % columns]));
      next[k % columns] += counts[k];
      from += static_cast<std::size_t>(counts[k]);
    }
  }

  /// Sets the offsets to the medians of value(side, place) over their places, which are begin[side] to begin[side + 1]
  /// for the sides here: those of all ranks, one after the other, are all of them.
  template <class Value>
  void set_medians(std::vector<double>& all, const std::vector<Offset>& places, const Value& value) const {
    constexpr Offset shards = 64;
    const Offset* begin = places.data();
    const auto sides = static_cast<Index>(places.size()) - 1;
    std::vector<double> offsets(static_cast<std::size_t>(sides));
    const std::vector<Index> cuts = cut_rows_into(shards, sides, begin[sides], begin);
    execution_.for_each_shard(static_cast<int>(cuts.size()) - 1, [&](int s) {
      std::vector<double> values;
      const auto shard = static_cast<std::size_t>(s);
      for (auto i = static_cast<std::size_t>(cuts[shard]); i < static_cast<std::size_t>(cuts[shard + 1]); ++i) {
        values.clear();
        for (Offset e = begin[i]; e < begin[i + 1]; ++e) values.push_back(value(i, e));
        offsets[i] = median(values);
      }
    });
    offsets = gathered(std::move(offsets), entries_.ranks());
    std::copy(offsets.begin(), offsets.end(), all.begin());
  }

  /// The first entry from this one on whose number, among all, belongs to samples.
  [[nodiscard]] std::size_t next_in_sample(std::size_t entry) const {
    return (first_ + entry + stride_ - 1) / stride_ * stride_ - first_;
  }

  [[nodiscard]] double residual_deviation() const {
    const auto squares = side_.template total<1>(
        [&](Index i, Index j, std::size_t e, Sums<1>& sum) { sum.of[0] += residual(i, j, e) * residual(i, j, e); });
    return std::sqrt(squares.of[0] / static_cast<double>(entries_.all_entries()));
  }

  /// Taken over residuals that counted before: gross outliers must not widen it.
  [[nodiscard]] double scale_of_residuals() const {
    std::vector<std::vector<double>> found(static_cast<std::size_t>(side_.shards()));
    side_.for_each_row([&](int shard, Index i, Offset begin, Offset end) {
      std::vector<double>& sizes = found[static_cast<std::size_t>(shard)];
      for (std::size_t e = next_in_sample(static_cast<std::size_t>(begin)); e < static_cast<std::size_t>(end);
           e += stride_) {
        if (weight_[e] > 0) sizes.push_back(std::abs(residual(i, static_cast<Index>(entries_.col[e]), e)));
      }
    });
    std::vector<double> sizes;
    for (const std::vector<double>& part : found) sizes.insert(sizes.end(), part.begin(), part.end());
    sizes = gathered(std::move(sizes), entries_.ranks());
    const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    if (sizes.empty()) return 0;
    const double scale = kMedianToDeviation * median(sizes);
    return scale > 0 ? scale : sum / static_cast<double>(sizes.size());  // most residuals are zero
  }

  /// Weighs entries by their residuals, where averages are robust, and takes the mean of all residuals into the offset.
  /// Leaves the sums of rows. Returns the size of the mean.
  double center(double scale) {
    const double per_scale = 1 / (scale * (kNoWeight - kFullWeight));
    constexpr double kMost = kNoWeight / (kNoWeight - kFullWeight);
    side_.by_rows(
        [&](Index i, Index j, std::size_t e) {
          const double rest = residual(i, j, e);
          if (robust_) weight_[e] = Real(std::min(1.0, std::max(0.0, kMost - per_scale * std::abs(rest))));
          return SideSum{weight(e) * rest, weight(e)};
        },
        sums_);
    SideSum all;
    for (const SideSum& row : sums_) all += row;
    const double mean = all.weight > 0 ? all.sum / all.weight : 0.0;
    p_.offset += mean;
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i].sum += (row_offset_[i] - mean) * sums_[i].weight;
    return std::abs(mean);
  }

  /// New offsets of one side, given the other's. Returns the largest change.
  double average_rows() { return p_.row_offset.empty() ? 0 : renew(p_.row_offset, shrinkage_.row); }
  double average_cols() {
    if (p_.col_offset.empty()) return 0;
    side_.by_cols(
        [&](Index i, Index /*j*/, std::size_t e) {
          return SideSum{weight(e) * (double(value_[e]) - (p_.offset + row_offset_[i])), weight(e)};
        },
        sums_);
    return renew(p_.col_offset, shrinkage_.col);
  }
  double renew(std::vector<double>& offsets, double& lambda) {
    lambda = shrinkage();
    const auto shrunken = [&](const SideSum& side) { return side.sum / (side.weight + lambda); };
    // What they have in common is the offset of all, which is not shrunken. Left to the rounds, it would get there by a
    // few per cent in each.
    double common = 0;
    double known = 0;
    for (const SideSum& side : sums_) {
      if (!(side.weight > 0)) continue;
      common += shrunken(side);
      ++known;
    }
    if (known > 0) common /= known;
    p_.offset += common;
    double largest = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const double next = sums_[i].weight > 0 ? shrunken(sums_[i]) - common : 0.0;
      largest = std::max(largest, std::abs(next - offsets[i]));
      offsets[i] = next;
    }
    return largest;
  }

  /// An offset of n entries is their mean times n / (n + lambda), lambda = variance of the noise / variance of the true
  /// offsets: the best linear guess. The latter is what the means vary beyond what their noise makes them vary.
  [[nodiscard]] double shrinkage() const {
    double spread = 0;
    double say = 0;
    for (const SideSum& side : sums_) {
      if (side.weight < 1) continue;
      const double mean = side.sum / side.weight;
      const double mine = std::min(side.weight, kFullSay);
      spread += mine * (mean * mean - noise_ / side.weight);
      say += mine;
    }
    if (!(spread > 0)) return kMostShrinkage;
    return std::min(kMostShrinkage, noise_ * say / spread);
  }

  void measure_scale() {
    const auto kept = side_.template total<2>([&](Index, Index, std::size_t e, Sums<2>& sum) {
      if (weight(e) == 0) return;
      sum.of[0] += double(value_[e]);
      ++sum.of[1];
    });
    const double count = kept.of[1];
    const double mean = count > 0 ? kept.of[0] / count : 0.0;
    const auto squares = side_.template total<1>([&](Index, Index, std::size_t e, Sums<1>& sum) {
      if (weight(e) > 0) sum.of[0] += (double(value_[e]) - mean) * (double(value_[e]) - mean);
    });
    const double deviation = count > 1 ? std::sqrt(squares.of[0] / (count - 1)) : 0.0;
    p_.scale = deviation > 1e-7 * std::abs(mean) ? deviation : 1.0;  // equal values: nothing to scale
  }

  Preparation& p_;
  bool robust_;
  EntriesByRow<Column> entries_;
  const Real* value_;
  const Execution& execution_;
  SideSums<Column> side_;
  std::vector<double> none_;  // of the side that has no offsets
  const double* row_offset_ = nullptr;
  const double* col_offset_ = nullptr;
  std::size_t count_;         // of the entries here
  std::size_t first_;         // the number of the first one among all
  std::vector<Real> weight_;  // of robust averages
  std::size_t stride_;
  std::vector<SideSum> sums_;
  double noise_ = 0;  // variance of the residuals
  Shrinkage shrinkage_;
};

}  // namespace

Shrinkage fit_offsets(Preparation& preparation, Averaging averaging, const Entries& entries, Index rows, Index cols,
                      const Execution& execution) {
  Grouping<Index> by_row(entries.row, rows, execution);
  std::vector<Index> col(entries.col.size());
  std::vector<Real> value(entries.value.size());
  by_row.place([&](std::size_t e, std::size_t place) {
    col[place] = entries.col[e];
    value[place] = entries.value[e];
  });
  const EntriesByRow<Index> lists{rows, cols, by_row.begin().data(), col.data()};
  return OffsetFit<Index>(preparation, averaging, lists, value.data(), execution).run();
}

Shrinkage fit_offsets(Preparation& preparation, Averaging averaging, const SparseObservations& data,
                      const Execution& execution) {
  return visit_rows(data, [&]<class Column>(const EntriesByRow<Column>& lists) {
    return OffsetFit<Column>(preparation, averaging, lists, data.value.data(), execution).run();
  });
}

}  // namespace tracenorm
