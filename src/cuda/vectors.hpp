// Kernels on thin blocks of vectors, as functions that the host calls. Everything is put on a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/report.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::cuda {

/// Some columns of a panel: columns of doubles or rows of Real, whatever the strides say.
struct View {
  void* data;
  Offset rows;
  Index columns;
  Offset row_stride;
  Offset column_stride;
  bool exact;  ///< doubles
};

/// Panels of the same shape and use, one beside the other.
struct ViewList {
  static constexpr int kMost = 32;
  View view[kMost];
  int count;
  [[nodiscard]] Index columns() const { return count == 0 ? 0 : count * view[0].columns; }
};

/// A small matrix, row by row, that travels with the call.
struct Small {
  static constexpr int kMost = 128;
  double value[kMost];
};

/// So many columns at most are made of others at a time.
inline constexpr int kCombineColumns = 4;

/// Products a' b are made tile by tile: so many columns of a and as many, or one, of b, rows in so many chunks.
inline constexpr int kGramTile = 4;
struct GramShape {
  int row_chunks;
  int tiles;    ///< of a and b
  int outputs;  ///< of a tile
  [[nodiscard]] std::size_t parts() const {
    return std::size_t(row_chunks) * std::size_t(tiles) * std::size_t(outputs);
  }
  [[nodiscard]] std::size_t counters() const { return std::size_t(tiles) + 1; }
  [[nodiscard]] GramShape twice() const { return {row_chunks, 2 * tiles, outputs}; }
};
GramShape gram_shape(Offset rows, Index a_columns, Index b_columns);
/// Reports a' b, column by column.
void gram(const ViewList& a, const ViewList& b, const Report& to, cudaStream_t stream);
/// Reports a' a and b' b, of as many columns each, in the shape of the longer one: twice its parts and tiles.
void grams(const ViewList& a, const ViewList& b, const Report& to, cudaStream_t stream);

/// block <- block - basis * projection, which is a Gram matrix on the device, column by column, and comes to the host;
/// reports the Gram matrix of what is left. One column or kCombineColumns.
std::size_t take_out_parts(Offset rows, Index columns);
void take_out(const ViewList& basis, const double* projection, double* on_host, const View& block, const Report& square,
              cudaStream_t stream);
/// out = keep out + in small, `small` being rows of out.columns numbers: with the call, or on the device where that is
/// given. `out` may be among `in` if it has at most kCombineColumns columns.
void combine(double keep, const ViewList& in, const Small& small, const double* on_device, const View& out,
             cudaStream_t stream);
/// out = keep out + in diag(factors), on the device; in place if wanted.
void combine_diagonal(double keep, const View& in, const double* factors, const View& out, cudaStream_t stream);
/// Adds random numbers of mean 0 and variance 1, times size: normal ones, or uniform ones.
void draw(double size, std::uint64_t seed, bool normal, const View& panel, cudaStream_t stream);
void scale_rows(const View& panel, const View& factors, cudaStream_t stream);
/// to[r * columns + k] = from(r, k) * factors[k] (all 1 where null), rows of doubles.
void gather_rows(const View& from, const double* factors, double* to, cudaStream_t stream);
/// Two columns as Real.
void narrow(const View& a, Real* of_a, const View& b, Real* of_b, cudaStream_t stream);

}  // namespace tracenorm::cuda
