// Values that may not be what they were taken for.
#pragma once

#include <string>
#include <vector>

#include "tracenorm/types.hpp"

namespace tracenorm::io {

/// A sentence when the values look like ids: many different whole numbers. Empty otherwise.
std::string ids_for_values(const std::vector<Real>& values);

/// A sentence when the most frequent value lies far from most others, as 99 among ratings from -10 to 10 does: it may
/// mean that there is none. Empty otherwise. NaN is left out.
std::string mark_among_values(const std::vector<Real>& values);

}  // namespace tracenorm::io
