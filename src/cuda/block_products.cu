#include "cuda/block_products.hpp"
#include "cuda/entry.cuh"

namespace tracenorm::cuda {

namespace {

/// A warp makes 32 numbers of a piece.
__global__ void __launch_bounds__(kThreads)
    block_pieces_kernel(const SparseRows m, const Real* in, Index columns, Real* parts) {
  const Offset piece = (static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x) / kWarp;
  const Index column = static_cast<Index>(blockIdx.y) * kWarp + static_cast<Index>(threadIdx.x) % kWarp;
  if (piece >= m.pieces || column >= columns) return;
  Real sum = 0;
  const Offset end = m.start[piece + 1];
#pragma unroll 4
  for (Offset e = m.start[piece]; e < end; ++e) {
    sum += m.m[e] * in[static_cast<Offset>(number(m.col, e)) * columns + column];
  }
  parts[piece * columns + column] = sum;
}

/// Tiles of a product: 64 x 64 outputs a block, 4 x 4 a thread, 16 of the depth at a time.
constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kPer = 4;

/// sum[i][k] += a(depth, first_row + i) * b(depth, first_col + k) over a range of the depth, for this thread's outputs.
template <class T, class A, class B>
__device__ void multiply_tile(Index first_depth, Index last_depth, A&& a, B&& b, T (&sum)[kPer][kPer]) {
  __shared__ T left[kDepth][kTile + 1];
  __shared__ T right[kDepth][kTile + 1];
  const int own_row = static_cast<int>(threadIdx.x) / 16 * kPer;
  const int own_col = static_cast<int>(threadIdx.x) % 16 * kPer;
  for (Index from = first_depth; from < last_depth; from += kDepth) {
    __syncthreads();
    for (int n = threadIdx.x; n < kDepth * kTile; n += kThreads) {
      a(from, n, last_depth, left);
      b(from, n, last_depth, right);
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      T x[kPer];
      T y[kPer];
#pragma unroll
      for (int i = 0; i < kPer; ++i) {
        x[i] = left[d][own_row + i];
        y[i] = right[d][own_col + i];
      }
#pragma unroll
      for (int i = 0; i < kPer; ++i) {
#pragma unroll
        for (int k = 0; k < kPer; ++k) sum[i][k] += x[i] * y[k];
      }
    }
  }
}

/// Reads a number of a tile of M so that neighbours in memory are read by neighbouring threads: along the rows of M,
/// which are the depth or not.
template <class T, bool along_depth>
struct TileOf {
  FullRows m;
  Index first;  // vector of the tile
  const double* row_factor = nullptr;
  const double* col_factor = nullptr;
  __device__ void operator()(Index from, int n, Index last_depth, T (*to)[kTile + 1]) const {
    const int d = along_depth ? n % kDepth : n / kTile;
    const int v = along_depth ? n / kDepth : n % kTile;
    const Index row = along_depth ? first + v : from + d;
    const Index col = along_depth ? from + d : first + v;
    T x = 0;
    if (row < m.rows && col < m.cols && from + d < last_depth) {
      x = T(m.m[static_cast<Offset>(row) * m.pitch + col]);
      if (row_factor != nullptr) x *= T(row_factor[row] * col_factor[col]);
    }
    to[d][v] = x;
  }
};

/// parts[chunk] = op(M) in, over a range of the depth.
template <bool transposed>
__global__ void __launch_bounds__(kThreads)
    block_full_kernel(const FullRows m, const Real* in, Index columns, Real* parts) {
  const Index outputs = transposed ? m.cols : m.rows;
  const Index depth = transposed ? m.rows : m.cols;
  const Index length = (depth + static_cast<Index>(gridDim.z) - 1) / static_cast<Index>(gridDim.z);
  const Index first_depth = static_cast<Index>(blockIdx.z) * length;
  const Index first_row = static_cast<Index>(blockIdx.x) * kTile;
  const Index first_col = static_cast<Index>(blockIdx.y) * kTile;
  Real sum[kPer][kPer] = {};
  const auto block = [&](Index from, int n, Index last_depth, Real(*to)[kTile + 1]) {
    const int d = n / kTile;
    const int v = n % kTile;
    const bool there = from + d < last_depth && first_col + v < columns;
    to[d][v] = there ? in[static_cast<Offset>(from + d) * columns + first_col + v] : Real(0);
  };
  multiply_tile(first_depth, min(first_depth + length, depth), TileOf<Real, !transposed>{m, first_row}, block, sum);
  Real* const out = parts + static_cast<Offset>(blockIdx.z) * outputs * columns;
  for (int i = 0; i < kPer; ++i) {
    const Index row = first_row + static_cast<Index>(threadIdx.x) / 16 * kPer + i;
    for (int k = 0; k < kPer; ++k) {
      const Index col = first_col + static_cast<Index>(threadIdx.x) % 16 * kPer + k;
      if (row < outputs && col < columns) out[static_cast<Offset>(row) * columns + col] = sum[i][k];
    }
  }
}

template <bool of_rows>
__global__ void __launch_bounds__(kThreads)
    gram_full_kernel(const FullRows m, const double* row_factor, const double* col_factor, double* out) {
  if (blockIdx.x < blockIdx.y) return;  // the other triangle is the same
  const Index side = of_rows ? m.rows : m.cols;
  const Index first_row = static_cast<Index>(blockIdx.x) * kTile;
  const Index first_col = static_cast<Index>(blockIdx.y) * kTile;
  double sum[kPer][kPer] = {};
  multiply_tile(0, of_rows ? m.cols : m.rows, TileOf<double, of_rows>{m, first_row, row_factor, col_factor},
                TileOf<double, of_rows>{m, first_col, row_factor, col_factor}, sum);
  for (int i = 0; i < kPer; ++i) {
    const Index row = first_row + static_cast<Index>(threadIdx.x) / 16 * kPer + i;
    for (int k = 0; k < kPer; ++k) {
      const Index col = first_col + static_cast<Index>(threadIdx.x) % 16 * kPer + k;
      if (row >= side || col >= side) continue;
      out[static_cast<Offset>(col) * side + row] = sum[i][k];
      out[static_cast<Offset>(row) * side + col] = sum[i][k];
    }
  }
}

/// work(first entry, one behind the last) for every band of a row.
template <class Work>
__device__ void for_row(const SparseRows& m, Offset row, Work&& work) {
  for (Index band = 0; band < m.bands; ++band) {
    const Index* first = m.first + static_cast<Offset>(band) * m.rows + row;
    work(m.start[first[0]], m.start[first[1]]);
  }
}

/// A block makes a column of the Gram matrix: the vectors that its own one meets, one after the other. In each of them
/// a place occurs once, so no two threads add to the same number at a time.
__global__ void __launch_bounds__(kThreads)
    gram_sparse_kernel(const SparseRows outer, const SparseRows inner, const double* outer_factor,
                       const double* inner_factor, double* out) {
  const Offset own = blockIdx.x;
  double* const column = out + own * outer.rows;
  for_row(outer, own, [&](Offset begin, Offset end) {
    for (Offset e = begin; e < end; ++e) {
      const Index met = number(outer.col, e);
      auto factor = double(outer.m[e]);
      if (outer_factor != nullptr) factor *= outer_factor[own] * inner_factor[met] * inner_factor[met];
      for_row(inner, met, [&](Offset first, Offset last) {
        for (Offset f = first + threadIdx.x; f < last; f += kThreads) {
          const Index place = number(inner.col, f);
          const double other = double(inner.m[f]) * (outer_factor != nullptr ? outer_factor[place] : 1.0);
          column[place] += factor * other;
        }
      });
      __syncthreads();
    }
  });
}

}  // namespace

void block_times(const SparseRows& m, const Real* in, Index columns, Real* out, Real* parts, cudaStream_t stream) {
  const dim3 grid(blocks_for(static_cast<Offset>(m.pieces) * kWarp), (columns + kWarp - 1) / kWarp);
  block_pieces_kernel<<<grid, kThreads, 0, stream>>>(m, in, columns, parts);
  RowTerms<Real> terms;
  terms.out = out;
  join_pieces(m, columns, parts, terms, stream);
}

void block_times(const FullRows& m, bool transposed, const Real* in, Index columns, Real* out, Real* parts,
                 cudaStream_t stream) {
  const Index outputs = transposed ? m.cols : m.rows;
  const dim3 grid((outputs + kTile - 1) / kTile, (columns + kTile - 1) / kTile, kBlockParts);
  if (transposed) {
    block_full_kernel<true><<<grid, kThreads, 0, stream>>>(m, in, columns, parts);
  } else {
    block_full_kernel<false><<<grid, kThreads, 0, stream>>>(m, in, columns, parts);
  }
  const Offset length = static_cast<Offset>(outputs) * columns;
  join_parts(parts, kBlockParts, length, length, out, stream);
}

void gram(const FullRows& m, bool of_rows, const double* row_factor, const double* col_factor, double* out,
          cudaStream_t stream) {
  const int tiles = ((of_rows ? m.rows : m.cols) + kTile - 1) / kTile;
  if (of_rows) {
    gram_full_kernel<true><<<dim3(tiles, tiles), kThreads, 0, stream>>>(m, row_factor, col_factor, out);
  } else {
    gram_full_kernel<false><<<dim3(tiles, tiles), kThreads, 0, stream>>>(m, row_factor, col_factor, out);
  }
}

void gram(const SparseRows& outer, const SparseRows& inner, const double* outer_factor, const double* inner_factor,
          double* out, cudaStream_t stream) {
  gram_sparse_kernel<<<outer.rows, kThreads, 0, stream>>>(outer, inner, outer_factor, inner_factor, out);
}

}  // namespace tracenorm::cuda
