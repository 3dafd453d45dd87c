// What the answer leaves unexplained of the data it was fitted to: that is where outliers show.
#pragma once

#include <vector>

#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/model.hpp"
#include "tracenorm/preparation.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm::app {

struct Residual {
  Index row = 0;
  Index col = 0;
  double observed = 0;   ///< in the units of the raw data
  double predicted = 0;  ///< likewise

  [[nodiscard]] double value() const { return observed - predicted; }
};

struct Histogram {
  std::vector<double> middle;  ///< of each bin
  std::vector<double> count;
};

struct Residuals {
  Histogram histogram;
  double median = 0;
  double spread = 0;  ///< median absolute deviation from the median, times 1.4826: robust to outliers
  Offset entries = 0;
  Offset far = 0;                 ///< how many are more than five spreads from the median
  std::vector<Residual> largest;  ///< by absolute value, the largest first
};

/// One pass over the observed entries; the full matrix is never made. `preparation` is that of the problem, the model
/// says what is predicted.
Residuals residuals(const Problem& problem, const Preparation& preparation, const Model& model, std::size_t largest);

}  // namespace tracenorm::app
