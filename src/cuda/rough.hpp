// Products to two digits: slopes of full matrices, and vectors that meet a pattern, are read as bfloat16, which has the
// range of a float. A search for a leading pair asks for no more while its steps are long.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/products.hpp"
#include "cuda/shares.hpp"

namespace tracenorm::cuda {

/// A bfloat16, as it stands in memory.
using Rough = std::uint16_t;
/// Numbers side by side in rows of vectors, and how many bytes they take.
inline constexpr Index kRoughVectors = 4;
inline constexpr std::size_t kRoughBytes = kRoughVectors * sizeof(Rough);

/// As `normal`, for at most kLongestFusedRow columns.
void rough_normal(const FullRows& m, const Rough* slopes, const Real* v, const RowTerms<Real>& terms, Real* out,
                  Real* parts, cudaStream_t stream);

/// As `times` of four vectors: those that a pattern's rows meet, given as they are or rough.
void rough_times(const SparseRows& m, const Shares& shares, const Real* v, const RowTerms<Real>& terms, Real* parts,
                 cudaStream_t stream);
void rough_times(const SparseRows& m, const Shares& shares, const Rough* v, const RowTerms<Real>& terms, Real* parts,
                 cudaStream_t stream);

/// As `move` towards an atom; `own` is its vector along the pieces, `met` the other. Reports the largest |target - x|.
struct AtomAlongPieces {
  const Real* own;
  const Real* met;
};
void move(const SparseRows& m, const Shares& shares, const AtomAlongPieces& atom, Real* x, double t, const Report* to,
          cudaStream_t stream);

}  // namespace tracenorm::cuda
