// How well scores tell two classes apart.
#pragma once

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

}  // namespace tracenorm
