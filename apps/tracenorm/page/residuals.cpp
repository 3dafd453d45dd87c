#include "page/residuals.hpp"

#include <algorithm>
#include <cmath>

#include "page/cells.hpp"

namespace tracenorm::app {

namespace {

constexpr std::size_t kBins = 101;
/// How far from the median, in spreads, an entry counts as far away.
constexpr double kFar = 5;
/// The spread of a Gaussian is its standard deviation.
constexpr double kGaussian = 1.4826;

/// Calls visit(row, col, observed, fitted) in prepared units.
template <class Visit>
void for_each_entry(const SparseObservations& data, const LowRankMatrix& x, Visit&& visit) {
  for (Index first = 0; first < data.pattern.rows(); first += kRowsAtOnce) {
    const Index last = std::min<Index>(first + kRowsAtOnce, data.pattern.rows());
    const Eigen::MatrixXd block = x.dense_rows(first, last);
    for (Index i = first; i < last; ++i) {
      for (Offset e = data.pattern.begin()[i]; e < data.pattern.begin()[i + 1]; ++e) {
        const Index j = data.pattern.col()[e];
        visit(i, j, double(data.value[static_cast<std::size_t>(e)]), block(i - first, j));
      }
    }
  }
}

template <class Visit>
void for_each_entry(const DenseObservations& data, const LowRankMatrix& x, Visit&& visit) {
  for_each_cell(data, x, [&](Index i, Index j, double observed, double fitted) {
    if (!std::isnan(observed)) visit(i, j, observed, fitted);
  });
}

double median_of(std::vector<float>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return double(*middle);
}

/// From the least to the largest: an outlier is a bin far from the others.
Histogram make_histogram(const std::vector<float>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double begin = double(*least);
  const double width = std::max(double(*most) - begin, 1e-30) / static_cast<double>(kBins);
  Histogram histogram;
  histogram.count.assign(kBins, 0);
  for (std::size_t b = 0; b < kBins; ++b) histogram.middle.push_back(begin + (static_cast<double>(b) + 0.5) * width);
  for (const float value : values) {
    const double place = std::floor((double(value) - begin) / width);
    ++histogram.count[std::min(static_cast<std::size_t>(std::max(place, 0.0)), kBins - 1)];
  }
  return histogram;
}

/// Keeps the entries with the largest values in a heap whose front is the least of them.
class Largest {
 public:
  explicit Largest(std::size_t count) : count_(count) {}
  void offer(const Residual& one) {
    if (kept_.size() == count_ && !larger(one, kept_.front())) return;
    if (kept_.size() == count_) {
      std::pop_heap(kept_.begin(), kept_.end(), larger);
      kept_.pop_back();
    }
    kept_.push_back(one);
    std::push_heap(kept_.begin(), kept_.end(), larger);
  }
  std::vector<Residual> sorted() {
    std::sort(kept_.begin(), kept_.end(), larger);
    return std::move(kept_);
  }

 private:
  static bool larger(const Residual& a, const Residual& b) { return std::abs(a.value()) > std::abs(b.value()); }

  std::size_t count_;
  std::vector<Residual> kept_;
};

}  // namespace

Residuals residuals(const Problem& problem, const Preparation& preparation, const LowRankMatrix& x,
                    std::size_t largest) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(observed(problem.observations)));
  Largest kept(largest);
  std::visit(
      [&](const auto& data) {
        for_each_entry(data, x, [&](Index i, Index j, double seen, double fitted) {
          // Offsets that were fitted together with X are not taken off the data of the problem.
          const double base = problem.offsets ? preparation.offset : preparation.base(i, j);
          const Residual one{i, j, base + preparation.scale * seen, preparation.undo(fitted, i, j)};
          values.push_back(static_cast<float>(one.value()));
          kept.offer(one);
        });
      },
      problem.observations);
  Residuals result;
  result.entries = static_cast<Offset>(values.size());
  if (values.empty()) return result;
  result.histogram = make_histogram(values);
  result.largest = kept.sorted();
  result.median = median_of(values);
  for (float& value : values) value = static_cast<float>(std::abs(double(value) - result.median));
  result.spread = kGaussian * median_of(values);
  for (const float distance : values) {
    if (double(distance) > kFar * result.spread) ++result.far;
  }
  return result;
}

}  // namespace tracenorm::app
