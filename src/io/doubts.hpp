// Values that may not be what they were taken for.
#pragma once

#include <string>
#include <vector>

#include "tracenorm/types.hpp"

namespace tracenorm::io {

/// Some twenty thousand values, from all over the file, are enough for a doubt: of so many, every how-manieth.
std::size_t doubt_stride(std::size_t count);

/// Values in the order of the file, and the least and the largest of all.
struct ValueSample {
  std::vector<Real> some;
  Real least = 0;
  Real most = 0;
};
ValueSample sample_of(const std::vector<Real>& values);

/// A sentence when the values look like ids: many different whole numbers. Empty otherwise.
std::string ids_for_values(const ValueSample& values);

/// A sentence when the most frequent value lies far from most others, as 99 among ratings from -10 to 10 does: it may
/// mean that there is none. Empty otherwise. NaN is left out.
std::string mark_among_values(const ValueSample& values);

}  // namespace tracenorm::io
