#include "fit/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tracenorm/fit.hpp"

namespace tracenorm {

namespace {

/// Root mean square and mean absolute error of the predictions. The entries are in raw units, `x` is in prepared ones.
HeldOut regression_errors(const LowRankMatrix& x, const Preparation& preparation, const Entries& raw) {
  std::vector<Real> fitted;
  x.sample(raw.row, raw.col, fitted);
  double squares = 0;
  double absolutes = 0;
  for (std::size_t e = 0; e < fitted.size(); ++e) {
    const double error = preparation.undo(double(fitted[e]), raw.row[e], raw.col[e]) - double(raw.value[e]);
    squares += error * error;
    absolutes += std::abs(error);
  }
  const auto count = static_cast<double>(raw.size());
  HeldOut result;
  result.entries = raw.size();
  result.rmse = std::sqrt(squares / count);
  result.mae = absolutes / count;
  result.rmse_prepared = *result.rmse / preparation.scale;
  result.mae_prepared = *result.mae / preparation.scale;
  return result;
}

/// The area under the ROC curve of scores x against labels: above zero is the positive class.
HeldOut ranking_quality(const LowRankMatrix& x, const Entries& labels) {
  std::vector<Real> scores;
  x.sample(labels.row, labels.col, scores);
  std::vector<Scored> scored(scores.size());
  for (std::size_t e = 0; e < scores.size(); ++e) {
    scored[e] = {scores[e], labels.value[e] > 0};
  }
  HeldOut result;
  result.entries = labels.size();
  result.auc = area_under_curve(scored);
  return result;
}

}  // namespace

HeldOut judge(const LowRankMatrix& x, const Loss& loss, const Preparation& preparation, const Entries& raw) {
  return wants_labels(loss) ? ranking_quality(x, raw) : regression_errors(x, preparation, raw);
}

double area_under_curve(std::vector<Scored>& scored) {
  std::sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
  double positives = 0;
  double rank_sum = 0;  // of the positives, ranks counted from one
  for (std::size_t first = 0; first < scored.size();) {
    std::size_t last = first;
    double positives_here = 0;
    while (last < scored.size() && scored[last].score == scored[first].score) {
      positives_here += scored[last].positive ? 1 : 0;
      ++last;
    }
    if (last == first) return std::numeric_limits<double>::quiet_NaN();  // a score that is not a number
    const double midrank = (static_cast<double>(first) + 1 + static_cast<double>(last)) / 2;
    rank_sum += midrank * positives_here;
    positives += positives_here;
    first = last;
  }
  const double negatives = static_cast<double>(scored.size()) - positives;
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

}  // namespace tracenorm
