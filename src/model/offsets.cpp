#include "model/offsets.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

/// A median from at most this many values is as good as from all.
constexpr std::size_t kMedianSample = std::size_t{1} << 20U;

/// The middle one; `values` is reordered. Zero of none.
double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class OffsetFit {
 public:
  OffsetFit(Preparation& preparation, Averaging averaging, const Entries& entries, Index rows, Index cols)
      : p_(preparation),
        robust_(averaging == Averaging::robust),
        entries_(entries),
        count_(entries.row.size()),
        weight_(count_, Real(1)),
        stride_(std::max<std::size_t>(1, count_ / kMedianSample)) {
    using Kind = Preparation::Kind;
    if (p_.kind != Kind::columns) p_.row_offset.assign(static_cast<std::size_t>(rows), 0.0);
    if (p_.kind != Kind::rows) p_.col_offset.assign(static_cast<std::size_t>(cols), 0.0);
  }

  Shrinkage run() {
    if (robust_) start_from_medians();
    for (int round = 0; round < kMostRounds; ++round) {
      const double scale = robust_ ? weigh() : residual_deviation();
      if (scale == 0) break;  // the offsets explain everything
      noise_ = scale * scale;
      const double change = std::max({center(), average(p_.row_offset, entries_.row, shrinkage_.row),
                                      average(p_.col_offset, entries_.col, shrinkage_.col)});
      if (change <= kConverged * scale) break;
    }
    measure_scale();
    return shrinkage_;
  }

 private:
  [[nodiscard]] double residual(std::size_t e) const {
    return double(entries_.value[e]) - p_.base(entries_.row[e], entries_.col[e]);
  }

  /// Redescending weights need a start that outliers have not moved: medians of all, of columns, of rows.
  void start_from_medians() {
    scratch_.clear();
    for (std::size_t e = 0; e < count_; e += stride_) scratch_.push_back(double(entries_.value[e]));
    p_.offset = median(scratch_);
    set_medians(p_.col_offset, entries_.col);
    set_medians(p_.row_offset, entries_.row);
  }

  void set_medians(std::vector<double>& offsets, const std::vector<Index>& side) {
    if (offsets.empty()) return;
    std::vector<std::size_t> begin(offsets.size() + 1, 0);
    for (const Index index : side) ++begin[static_cast<std::size_t>(index) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Real> grouped(count_);
    std::vector<std::size_t> place(begin.begin(), begin.end() - 1);
    for (std::size_t e = 0; e < count_; ++e) grouped[place[static_cast<std::size_t>(side[e])]++] = Real(residual(e));
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      scratch_.assign(grouped.begin() + static_cast<std::ptrdiff_t>(begin[i]),
                      grouped.begin() + static_cast<std::ptrdiff_t>(begin[i + 1]));
      offsets[i] += median(scratch_);
    }
  }

  [[nodiscard]] double residual_deviation() const {
    double squares = 0;
    for (std::size_t e = 0; e < count_; ++e) squares += residual(e) * residual(e);
    return std::sqrt(squares / static_cast<double>(count_));
  }

  /// Weights by the residuals. Their scale is taken over those that counted before: gross outliers must not widen it.
  double weigh() {
    scratch_.clear();
    double sum = 0;
    for (std::size_t e = 0; e < count_; e += stride_) {
      if (weight_[e] == 0) continue;
      scratch_.push_back(std::abs(residual(e)));
      sum += scratch_.back();
    }
    double scale = kMedianToDeviation * median(scratch_);
    if (scale == 0 && !scratch_.empty()) scale = sum / static_cast<double>(scratch_.size());  // most residuals are zero
    if (scale == 0) return 0;
    for (std::size_t e = 0; e < count_; ++e) {
      const double size = std::abs(residual(e)) / scale;
      weight_[e] = Real(std::clamp((kNoWeight - size) / (kNoWeight - kFullWeight), 0.0, 1.0));
    }
    return scale;
  }

  double center() {
    double sum = 0;
    double weights = 0;
    for (std::size_t e = 0; e < count_; ++e) {
      sum += double(weight_[e]) * residual(e);
      weights += double(weight_[e]);
    }
    const double change = weights > 0 ? sum / weights : 0.0;
    p_.offset += change;
    return std::abs(change);
  }

  /// New offsets of one side, given the other's. Returns the largest change.
  double average(std::vector<double>& offsets, const std::vector<Index>& side, double& lambda) {
    if (offsets.empty()) return 0;
    sums_.assign(offsets.size(), 0.0);
    weights_.assign(offsets.size(), 0.0);
    for (std::size_t e = 0; e < count_; ++e) {
      const auto at = static_cast<std::size_t>(side[e]);
      const double w = double(weight_[e]);
      sums_[at] += w * (residual(e) + offsets[at]);
      weights_[at] += w;
    }
    lambda = shrinkage();
    double largest = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const double next = weights_[i] > 0 ? sums_[i] / (weights_[i] + lambda) : 0.0;
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
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (weights_[i] < 1) continue;
      const double mean = sums_[i] / weights_[i];
      const double mine = std::min(weights_[i], kFullSay);
      spread += mine * (mean * mean - noise_ / weights_[i]);
      say += mine;
    }
    if (!(spread > 0)) return kMostShrinkage;
    return std::min(kMostShrinkage, noise_ * say / spread);
  }

  void measure_scale() {
    double sum = 0;
    double count = 0;
    for_each_kept([&](double y) {
      sum += y;
      ++count;
    });
    const double mean = count > 0 ? sum / count : 0.0;
    double squares = 0;
    for_each_kept([&](double y) { squares += (y - mean) * (y - mean); });
    const double deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0.0;
    p_.scale = deviation > 1e-7 * std::abs(mean) ? deviation : 1.0;  // equal values: nothing to scale
  }

  template <class Work>
  void for_each_kept(Work&& work) const {
    for (std::size_t e = 0; e < count_; ++e) {
      if (weight_[e] > 0) work(double(entries_.value[e]));
    }
  }

  Preparation& p_;
  bool robust_;
  const Entries& entries_;
  std::size_t count_;
  std::vector<Real> weight_;
  std::size_t stride_;
  std::vector<double> scratch_;
  std::vector<double> sums_;
  std::vector<double> weights_;
  double noise_ = 0;  // variance of the residuals
  Shrinkage shrinkage_;
};

}  // namespace

Shrinkage fit_offsets(Preparation& preparation, Averaging averaging, const Entries& entries, Index rows, Index cols) {
  return OffsetFit(preparation, averaging, entries, rows, cols).run();
}

}  // namespace tracenorm
