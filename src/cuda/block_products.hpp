// Products of slopes with blocks of many columns, and with themselves, as functions that the host calls. Everything is
// put on a stream; sums have an order of their own, as in products.hpp.
#pragma once

#include "cuda/products.hpp"

namespace tracenorm::cuda {

/// out = M in or M' in for rows of `columns` numbers, a multiple of kFactorStep. `parts`: one row of them a piece, or
/// kBlockParts outputs.
inline constexpr Index kBlockParts = 8;
void block_times(const SparseRows& m, const Real* in, Index columns, Real* out, Real* parts, cudaStream_t stream);
void block_times(const FullRows& m, bool transposed, const Real* in, Index columns, Real* out, Real* parts,
                 cudaStream_t stream);

/// M'M, or MM' with `of_rows`, of D M E in double, with diagonals where given. `out` is zero before. Of a pattern,
/// `outer` is the order that has the side's vectors as rows, `inner` the other one.
void gram(const FullRows& m, bool of_rows, const double* row_factor, const double* col_factor, double* out,
          cudaStream_t stream);
void gram(const SparseRows& outer, const SparseRows& inner, const double* outer_factor, const double* inner_factor,
          double* out, cudaStream_t stream);

}  // namespace tracenorm::cuda
