// Whether data have ends that predictions should keep within.
#pragma once

#include <optional>
#include <span>

#include "base/execution.hpp"
#include "tracenorm/preparation.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm {

/// From the least to the largest value; NaN is a hole. Here and below, of those of all ranks, where there are some.
ValueRange range_of(std::span<const Real> values, Ranks* ranks = nullptr, const Execution& execution = Execution(1));

/// The same where the values have few levels, as stars do, or where both ends are met again and again, as on a scale
/// that was cut off; otherwise unbounded: the ends of a sample of anything else are an accident.
ValueRange clear_range(std::span<const Real> values, Ranks* ranks = nullptr, const Execution& execution = Execution(1));

/// What predictions are to be kept within: as asked for, or where the values say so.
ValueRange range_for(std::optional<bool> clip, std::span<const Real> values, Ranks* ranks = nullptr,
                     const Execution& execution = Execution(1));

}  // namespace tracenorm
