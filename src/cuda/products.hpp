// Products of slopes with thin blocks, as functions that the host calls. Everything is put on a stream. Sums have an
// order of their own, whatever runs first: a row of a pattern is cut into pieces, a full matrix into ranges of rows,
// and their sums are added one after the other.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/entries.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::cuda {

/// The rows of a pattern (or its columns, where entries are in that order) in pieces of at most kPieceEntries.
inline constexpr Offset kPieceEntries = 1024;
struct SparseRows {
  const Offset* start;  ///< where each piece begins, and where the last one ends
  const Index* first;   ///< the first piece of each row, band after band, and one more
  Index pieces;
  Index rows;
  Index bands;  ///< parts of a row that lie apart
  int lanes;    ///< threads that share a piece
  Numbers col;
  const Real* m;
};

struct FullRows {
  const Real* m;
  Index rows;
  Index cols;
  Index pitch;
};

/// What is done with a row of M v: kept = factor * M v + addend, and out = factor * kept. Each may be null.
template <class V>
struct RowTerms {
  const V* factor = nullptr;
  const V* addend = nullptr;
  V* kept = nullptr;
  V* out = nullptr;
  std::uint16_t* rough = nullptr;  ///< `out` as bfloat16; of pieces alone
};

/// M v for 1 or 4 vectors side by side. `parts` has room for one product a piece.
template <class V>
void times(const SparseRows& m, const V* v, Index vectors, const RowTerms<V>& terms, V* parts, cudaStream_t stream);
/// Its second half: adds up the pieces of every row.
template <class V>
void join_pieces(const SparseRows& m, Index vectors, const V* parts, const RowTerms<V>& terms, cudaStream_t stream);
/// out[n] = the sum of parts[p * pitch + n] over p < count.
template <class V>
void join_parts(const V* parts, Index count, Offset pitch, Offset length, V* out, cudaStream_t stream);
/// How many of them the device has that run blocks of threads.
int processors();
/// M v and M' u of a full matrix.
template <class V>
void times(const FullRows& m, const V* v, const RowTerms<V>& terms, cudaStream_t stream);
template <class V>
void times_transposed(const FullRows& m, const V* u, V* out, V* parts, cudaStream_t stream);
/// How many parts as long as a row the latter and the next have.
inline constexpr Index kFullParts = 396;
/// out = M' (what the terms make of M v), reading M once. For rows that threads can hold.
inline constexpr Index kLongestFusedRow = 8192;
void normal(const FullRows& m, const Real* v, const RowTerms<Real>& terms, Real* out, Real* parts, cudaStream_t stream);

}  // namespace tracenorm::cuda
