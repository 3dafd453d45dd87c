// The scalar and index types of the library.
#pragma once

#include <cstdint>

namespace tracenorm {

using Index = std::int32_t;        ///< a row or a column
using Offset = std::int64_t;       ///< an entry of the pattern, or a count of entries
using ShortIndex = std::uint16_t;  ///< a column in 16 bits, for matrices with few enough of them

/// Entry-sized arrays (data, iterate, slopes) hold `Real`; sums, vectors and small matrices are always double.
#ifdef TRACENORM_DOUBLE
using Real = double;
#else
using Real = float;
#endif

/// Rows of factors (factors.hpp) are multiples of this long, so that vector code needs no rest.
inline constexpr Index kFactorStep = 16;

/// Losses are inlined into kernels that are compiled once per instruction set. An out-of-line copy compiled for a newer
/// instruction set must never be picked by the linker for everybody, hence "always". A CUDA compiler makes one for the
/// device, too.
#ifdef __CUDACC__
#define TRACENORM_INLINE __host__ __device__ inline
#else
#define TRACENORM_INLINE [[gnu::always_inline]] inline
#endif

}  // namespace tracenorm
