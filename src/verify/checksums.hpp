// What the checksums of a claim are taken of.
#pragma once

#include <cstdint>
#include <vector>

#include "tracenorm/claim.hpp"

namespace tracenorm {

std::uint32_t checksum_of_data(const Real* prepared, const Real* weight, Offset count);  ///< weight: null for none
std::uint32_t checksum_of_answer(const LowRankMatrix& answer);
std::uint32_t checksum_of_dual(const DualPoint& dual);

}  // namespace tracenorm
