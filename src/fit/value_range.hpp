// Whether data have ends that predictions should keep within.
#pragma once

#include <optional>
#include <span>

#include "tracenorm/preparation.hpp"

namespace tracenorm {

/// From the least to the largest value; NaN is a hole.
ValueRange range_of(std::span<const Real> values);

/// The same where the values have few levels, as stars do, or where both ends are met again and again, as on a scale
/// that was cut off; otherwise unbounded: the ends of a sample of anything else are an accident.
ValueRange clear_range(std::span<const Real> values);

/// What predictions are to be kept within: as asked for, or where the values say so.
ValueRange range_for(std::optional<bool> clip, std::span<const Real> values);

}  // namespace tracenorm
