#include "page/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "page/cells.hpp"

namespace tracenorm::app {

namespace {

constexpr Index kMostCells = 200;  // a side
/// The scale leaves this share out at each end, so that an outlier does not make all else grey.
constexpr double kBeyondScale = 0.005;

/// Means over blocks of entries.
class Cells {
 public:
  Cells(Index rows, Index cols)
      : rows_(rows),
        cols_(cols),
        height_(std::min(rows, kMostCells)),
        width_(std::min(cols, kMostCells)),
        sum_(static_cast<std::size_t>(height_) * static_cast<std::size_t>(width_), 0.0),
        count_(sum_.size(), 0.0) {}

  void add(Index row, Index col, double value) {
    const auto i = static_cast<std::size_t>(Offset{row} * height_ / rows_);
    const auto j = static_cast<std::size_t>(Offset{col} * width_ / cols_);
    sum_[i * static_cast<std::size_t>(width_) + j] += value;
    ++count_[i * static_cast<std::size_t>(width_) + j];
  }
  /// Means of the cells that have any.
  [[nodiscard]] std::vector<double> means() const {
    std::vector<double> all;
    for (std::size_t c = 0; c < sum_.size(); ++c) {
      if (count_[c] > 0) all.push_back(sum_[c] / count_[c]);
    }
    return all;
  }
  [[nodiscard]] Picture picture(double lower, double upper) const {
    Picture picture{width_, height_, lower, upper, {}};
    for (std::size_t c = 0; c < sum_.size(); ++c) {
      if (count_[c] == 0) {
        picture.cells += "--";
        continue;
      }
      const double share = upper > lower ? (sum_[c] / count_[c] - lower) / (upper - lower) : 0.5;
      fmt::format_to(std::back_inserter(picture.cells), "{:02x}", std::lround(255 * std::clamp(share, 0.0, 1.0)));
    }
    return picture;
  }

 private:
  Index rows_;
  Index cols_;
  Index height_;
  Index width_;
  std::vector<double> sum_;
  std::vector<double> count_;
};

/// The value that this share of all is below; zero of none.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

template <class Answer>
Pictures pictures_of(const DenseObservations& data, const Preparation& preparation, const Answer& x) {
  Cells observed(data.rows, data.cols);
  Cells fitted(data.rows, data.cols);
  Cells residual(data.rows, data.cols);
  for_each_cell(data, x, [&](Index i, Index j, double datum, double prepared) {
    const double answer = preparation.predict(prepared, i, j);
    fitted.add(i, j, answer);
    if (std::isnan(datum)) return;
    const double seen = preparation.base(i, j) + preparation.scale * datum;
    observed.add(i, j, seen);
    residual.add(i, j, seen - answer);
  });
  const std::vector<double> seen = observed.means();
  const double lower = quantile(seen, kBeyondScale);
  const double upper = quantile(seen, 1 - kBeyondScale);
  std::vector<double> sizes = residual.means();
  for (double& size : sizes) size = std::abs(size);
  const double most = quantile(std::move(sizes), 1 - kBeyondScale);
  return {observed.picture(lower, upper), fitted.picture(lower, upper), residual.picture(-most, most)};
}

}  // namespace

Pictures pictures(const DenseObservations& data, const Preparation& preparation, const LowRankMatrix& x) {
  return pictures_of(data, preparation, x);
}

Pictures pictures(const DenseObservations& data, const Eigen::MatrixXd& answer) {
  return pictures_of(data, {}, answer);
}

}  // namespace tracenorm::app
