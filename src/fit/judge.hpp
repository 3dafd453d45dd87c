// How well scores tell two classes apart.
#pragma once

#include <utility>
#include <vector>

#include "tracenorm/types.hpp"

namespace tracenorm {

struct Scored {
  Real score;
  bool positive;
};

/// The probability that a random positive scores above a random negative, ties counted half (midranks). Sorts its
/// argument. NaN without positives or without negatives.
double area_under_curve(std::vector<Scored>& scored);

/// The mean, over the positives, of the share of positives among what scores at least as high; scores as
/// area_under_curve has sorted them. NaN without positives.
double average_precision(const std::vector<Scored>& sorted);

/// The ROC curve of scores that area_under_curve has sorted, from (0, 0) to (1, 1), thinned to about `points` points:
/// shares of negatives (first) and of positives (second) at or above a threshold. Empty where a class is.
std::vector<std::pair<double, double>> roc_curve(const std::vector<Scored>& sorted, std::size_t points);

}  // namespace tracenorm
