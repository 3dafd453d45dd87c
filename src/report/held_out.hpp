// How good a solution is on entries it was not trained on.
#pragma once

#include <optional>
#include <vector>

#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/observations.hpp"
#include "tracenorm/preparation.hpp"

namespace tracenorm::report {

/// Only the measures that apply to the data are set.
struct HeldOut {
  Offset entries = 0;
  Offset unknown = 0;          ///< left out, because the training data do not have their row or column
  std::optional<double> rmse;  ///< in the units of the raw data
  std::optional<double> mae;
  std::optional<double> rmse_prepared;  ///< in the units the problem was solved in
  std::optional<double> mae_prepared;
  std::optional<double> auc;  ///< NaN when one of the two classes is absent
};

/// Root mean square and mean absolute error. The entries are in raw units, `x` is in prepared ones.
HeldOut regression_errors(const LowRankMatrix& x, const Preparation& preparation, const Entries& raw);

/// The area under the ROC curve of scores x against labels: above zero is the positive class.
HeldOut ranking_quality(const LowRankMatrix& x, const Entries& labels);

struct Scored {
  Real score;
  bool positive;
};

/// The probability that a random positive scores above a random negative, ties counted half (midranks). Sorts its
/// argument. NaN without positives or without negatives.
double area_under_curve(std::vector<Scored>& scored);

}  // namespace tracenorm::report
