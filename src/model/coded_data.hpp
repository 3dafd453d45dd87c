// Data in one byte each, where they are few levels at equal distances: labels, links, ratings.
#pragma once

#include <utility>
#include <vector>

#include "base/execution.hpp"
#include "tracenorm/dense_values.hpp"

namespace tracenorm {

/// As they are where there are more than 128 levels, or a value would not come back to the last bit.
DenseValues coded_where_possible(const DenseValues& value, const Execution& execution = Execution(1));

/// A value and how many elements have it, for every code that occurs; nothing of what is missing.
std::vector<std::pair<Real, Offset>> count_levels(const DenseValues& coded);

}  // namespace tracenorm
