// Data in one byte each, where they are few levels at equal distances: labels, links, ratings.
#pragma once

#include <optional>
#include <vector>

#include "kernels/kernels.hpp"
#include "tracenorm/array.hpp"

namespace tracenorm {

struct CodedArray {
  std::vector<std::int8_t> code;
  Real offset = 0;
  Real scale = 1;
};

/// Nothing where there are more than 128 levels, or a value would not come back to the last bit.
std::optional<CodedArray> code_data(const Array<Real>& value);

}  // namespace tracenorm
