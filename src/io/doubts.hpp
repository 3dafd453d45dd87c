// Values that may not be what they were taken for.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tracenorm/types.hpp"

namespace tracenorm::io {

/// Some twenty thousand values, from all over the file, are enough for a doubt: of so many, every how-manieth.
std::size_t doubt_stride(std::size_t count);

/// Values in the order of the file. The least and the largest of all are looked for only where they are to be told.
struct ValueSample {
  std::vector<Real> some;
  std::function<std::pair<Real, Real>()> ends;
};
/// Refers to the values.
ValueSample sample_of(const std::vector<Real>& values);

/// A sentence when the values look like ids: many different whole numbers. Empty otherwise.
std::string ids_for_values(const ValueSample& values);

/// A sentence when the most frequent value lies far from most others, as 99 among ratings from -10 to 10 does: it may
/// mean that there is none. Empty otherwise. NaN is left out.
std::string mark_among_values(const ValueSample& values);

}  // namespace tracenorm::io
