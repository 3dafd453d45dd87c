#include <cuda_bf16.h>

#include "cuda/entry.cuh"
#include "cuda/launch.cuh"
#include "cuda/products.hpp"

namespace tracenorm::cuda {

namespace {

__device__ Index number(const Numbers& n, Offset e) {
  return n.narrow ? static_cast<Index>(static_cast<const ShortIndex*>(n.data)[e])
                  : static_cast<const Index*>(n.data)[e];
}

int blocks_for(Offset threads) { return static_cast<int>((threads + kThreads - 1) / kThreads); }

/// One or four numbers side by side.
template <class V, int n>
struct Vectors {
  V v[n];
};
template <class V, int n>
__device__ Vectors<V, n> load_vectors(const V* from, Offset row) {
  Vectors<V, n> x;
  if constexpr (n == 4 && sizeof(V) == sizeof(float)) {
    const float4 four = __ldg(reinterpret_cast<const float4*>(from) + row);
    x.v[0] = four.x, x.v[1] = four.y, x.v[2] = four.z, x.v[3] = four.w;
  } else {
#pragma unroll
    for (int k = 0; k < n; ++k) x.v[k] = __ldg(from + row * n + k);
  }
  return x;
}

/// `lanes` threads make the sums of a piece.
template <class V, int n, int lanes>
__global__ void __launch_bounds__(kThreads) pieces_kernel(const SparseRows m, const V* v, V* parts) {
  const Offset group = (static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  Vectors<V, n> sum{};
  if (group < m.pieces) {
    const Offset end = m.start[group + 1];
#pragma unroll 4
    for (Offset e = m.start[group] + lane; e < end; e += lanes) {
      const V slope = V(m.m[e]);
      const Vectors<V, n> x = load_vectors<V, n>(v, number(m.col, e));
#pragma unroll
      for (int k = 0; k < n; ++k) sum.v[k] += slope * x.v[k];
    }
  }
#pragma unroll
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) {
      sum.v[k] += __shfl_down_sync(0xffffffffU, sum.v[k], step, lanes);
    }
  }
  if (lane != 0 || group >= m.pieces) return;
#pragma unroll
  for (int k = 0; k < n; ++k) parts[group * n + k] = sum.v[k];
}

template <class V>
__device__ void finish_row(const RowTerms<V>& terms, Offset row, Offset at, V sum) {
  if (terms.factor != nullptr) sum *= terms.factor[row];
  if (terms.addend != nullptr) sum += terms.addend[at];
  if (terms.kept != nullptr) terms.kept[at] = sum;
  if (terms.factor != nullptr) sum *= terms.factor[row];
  if (terms.out != nullptr) terms.out[at] = sum;
  if (terms.rough != nullptr) terms.rough[at] = __bfloat16_as_ushort(__float2bfloat16_rn(float(sum)));
}

/// Adds up the pieces of a row.
template <class V>
__global__ void __launch_bounds__(kThreads)
    join_pieces_kernel(const SparseRows m, Index width, const V* parts, const RowTerms<V> terms) {
  wait_for_those_before();
  const Offset n = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x;
  if (n >= static_cast<Offset>(m.rows) * width) return;
  const Offset row = n / width;
  V sum = 0;
  for (Index band = 0; band < m.bands; ++band) {
    const Index* first = m.first + static_cast<Offset>(band) * m.rows + row;
    for (Offset p = first[0]; p < first[1]; ++p) sum += parts[p * width + n % width];
  }
  finish_row(terms, row, n, sum);
}

/// A block makes the sum of a row.
template <class V>
__global__ void __launch_bounds__(kThreads) full_times_kernel(const FullRows m, const V* v, const RowTerms<V> terms) {
  const Offset row = blockIdx.x;
  const Real* from = m.m + row * m.pitch;
  V sum = 0;
#pragma unroll 4
  for (Index j = threadIdx.x; j < m.cols; j += kThreads) sum += V(from[j]) * v[j];
  double whole[1] = {double(sum)};
  const double all = join_block<Add>(whole);
  if (threadIdx.x == 0) finish_row(terms, row, row, V(all));
}

/// A thread has four columns, a block a range of rows.
template <class V>
__global__ void __launch_bounds__(kThreads) full_transposed_kernel(const FullRows m, const V* u, V* parts) {
  const Offset quad = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x;
  if (quad * kQuad >= m.pitch) return;
  const Index length = (m.rows + static_cast<Index>(gridDim.y) - 1) / static_cast<Index>(gridDim.y);
  const Index first = static_cast<Index>(blockIdx.y) * length;
  const Index last = min(first + length, m.rows);
  V sum[kQuad] = {};
#pragma unroll 4
  for (Index i = first; i < last; ++i) {
    const Quad slope = load_quad(m.m + static_cast<Offset>(i) * m.pitch, quad);
    const V factor = u[i];
#pragma unroll
    for (int l = 0; l < kQuad; ++l) sum[l] += V(slope.value[l]) * factor;
  }
#pragma unroll
  for (int l = 0; l < kQuad; ++l) parts[static_cast<Offset>(blockIdx.y) * m.pitch + quad * kQuad + l] = sum[l];
}

/// out[n] = the sum of parts[p * pitch + n]: 32 numbers a block, as many threads for each.
constexpr int kJoinThreads = 1024;
template <class V>
__global__ void __launch_bounds__(kJoinThreads)
    join_parts_kernel(const V* parts, Index count, Offset pitch, Offset length, V* out) {
  constexpr int lanes = kJoinThreads / kWarp;
  __shared__ V sums[lanes][kWarp];
  wait_for_those_before();
  const Offset n = static_cast<Offset>(blockIdx.x) * kWarp + threadIdx.x % kWarp;
  const int lane = threadIdx.x / kWarp;
  V sum = 0;
  if (n < length) {
#pragma unroll 8
    for (Index p = lane; p < count; p += lanes) sum += parts[p * pitch + n];
  }
  sums[lane][threadIdx.x % kWarp] = sum;
  __syncthreads();
  if (lane != 0 || n >= length) return;
  for (int l = 1; l < lanes; ++l) sum += sums[l][threadIdx.x];
  out[n] = sum;
}

/// A block takes every so many-th row: its threads hold the row, make its product with v, and add it, times that, to
/// sums that they hold, too. The next row is on its way meanwhile.
constexpr int kFusedThreads = 512;
template <int quads>
__global__ void __launch_bounds__(kFusedThreads, quads == 4 ? 1 : 3)
    normal_kernel(const FullRows m, const Real* v, const RowTerms<Real> terms, Real* parts) {
  constexpr int warps = kFusedThreads / kWarp;
  __shared__ Real sums[2][warps];
  const Index per_row = m.pitch / kQuad;
  Quad vector[quads];
  Quad out[quads];
  Quad next[quads];
  const auto load_row = [&](Index row) {
#pragma unroll
    for (int k = 0; k < quads; ++k) {
      const Index quad = threadIdx.x + k * kFusedThreads;
      next[k] = row < m.rows && quad < per_row ? load_quad(m.m + static_cast<Offset>(row) * m.pitch, quad) : Quad{};
    }
  };
#pragma unroll
  for (int k = 0; k < quads; ++k) {
    const Index first = (threadIdx.x + k * kFusedThreads) * kQuad;
#pragma unroll
    for (int l = 0; l < kQuad; ++l) {
      vector[k].value[l] = first + l < m.cols ? v[first + l] : Real(0);
      out[k].value[l] = 0;
    }
  }
  load_row(blockIdx.x);
  int turn = 0;
  for (Index row = blockIdx.x; row < m.rows; row += gridDim.x, turn ^= 1) {
    Quad slope[quads];
    Real sum = 0;
#pragma unroll
    for (int k = 0; k < quads; ++k) slope[k] = next[k];
    load_row(row + gridDim.x);
#pragma unroll
    for (int k = 0; k < quads; ++k) {
#pragma unroll
      for (int l = 0; l < kQuad; ++l) sum += slope[k].value[l] * vector[k].value[l];
    }
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    if (threadIdx.x % kWarp == 0) sums[turn][threadIdx.x / kWarp] = sum;
    __syncthreads();  // two turns of `sums`: nobody writes what others still read
    sum = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w) sum += sums[turn][w];
    if (terms.factor != nullptr) sum *= terms.factor[row];
    if (terms.addend != nullptr) sum += terms.addend[row];
    if (terms.kept != nullptr && threadIdx.x == 0) terms.kept[row] = sum;
    if (terms.factor != nullptr) sum *= terms.factor[row];
#pragma unroll
    for (int k = 0; k < quads; ++k) {
#pragma unroll
      for (int l = 0; l < kQuad; ++l) out[k].value[l] += sum * slope[k].value[l];
    }
  }
#pragma unroll
  for (int k = 0; k < quads; ++k) {
    const Index quad = threadIdx.x + k * kFusedThreads;
    if (quad < per_row) store_quad(parts + static_cast<Offset>(blockIdx.x) * m.pitch, quad, out[k]);
  }
}

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

template <class V, int n>
void times_pieces(const SparseRows& m, const V* v, V* parts, cudaStream_t stream) {
  const int blocks = blocks_for(static_cast<Offset>(m.pieces) * m.lanes);
  if (m.lanes == 32) {
    pieces_kernel<V, n, 32><<<blocks, kThreads, 0, stream>>>(m, v, parts);
  } else if (m.lanes == 8) {
    pieces_kernel<V, n, 8><<<blocks, kThreads, 0, stream>>>(m, v, parts);
  } else {
    pieces_kernel<V, n, 2><<<blocks, kThreads, 0, stream>>>(m, v, parts);
  }
}

}  // namespace

bool launches_early() {
  static const bool can = [] {
    int major = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    return major >= 9;
  }();
  return can;
}

int processors() {
  static const int count = [] {
    int found = 0;
    cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, 0);
    return found < 1 ? 1 : found < kFullParts ? found : static_cast<int>(kFullParts);
  }();
  return count;
}

template <class V>
void join_parts(const V* parts, Index count, Offset pitch, Offset length, V* out, cudaStream_t stream) {
  launch(join_parts_kernel<V>, static_cast<unsigned>((length + kWarp - 1) / kWarp), kJoinThreads, 0, stream, parts,
         count, pitch, length, out);
}
template void join_parts(const Real*, Index, Offset, Offset, Real*, cudaStream_t);
template void join_parts(const double*, Index, Offset, Offset, double*, cudaStream_t);

template <class V>
void join_pieces(const SparseRows& m, Index vectors, const V* parts, const RowTerms<V>& terms, cudaStream_t stream) {
  launch(join_pieces_kernel<V>, blocks_for(static_cast<Offset>(m.rows) * vectors), kThreads, 0, stream, m, vectors,
         parts, terms);
}
template void join_pieces(const SparseRows&, Index, const Real*, const RowTerms<Real>&, cudaStream_t);
template void join_pieces(const SparseRows&, Index, const double*, const RowTerms<double>&, cudaStream_t);

template <class V>
void times(const SparseRows& m, const V* v, Index vectors, const RowTerms<V>& terms, V* parts, cudaStream_t stream) {
  if (vectors == 1) {
    times_pieces<V, 1>(m, v, parts, stream);
  } else {
    times_pieces<V, 4>(m, v, parts, stream);
  }
  join_pieces(m, vectors, parts, terms, stream);
}
template void times(const SparseRows&, const Real*, Index, const RowTerms<Real>&, Real*, cudaStream_t);
template void times(const SparseRows&, const double*, Index, const RowTerms<double>&, double*, cudaStream_t);

template <class V>
void times(const FullRows& m, const V* v, const RowTerms<V>& terms, cudaStream_t stream) {
  full_times_kernel<<<m.rows, kThreads, 0, stream>>>(m, v, terms);
}
template void times(const FullRows&, const Real*, const RowTerms<Real>&, cudaStream_t);
template void times(const FullRows&, const double*, const RowTerms<double>&, cudaStream_t);

template <class V>
void times_transposed(const FullRows& m, const V* u, V* out, V* parts, cudaStream_t stream) {
  const Index ranges = m.rows < 64 ? m.rows : 64;
  full_transposed_kernel<<<dim3(blocks_for(m.pitch / kQuad), ranges), kThreads, 0, stream>>>(m, u, parts);
  join_parts(parts, ranges, m.pitch, m.cols, out, stream);
}
template void times_transposed(const FullRows&, const Real*, Real*, Real*, cudaStream_t);
template void times_transposed(const FullRows&, const double*, double*, double*, cudaStream_t);

void normal(const FullRows& m, const Real* v, const RowTerms<Real>& terms, Real* out, Real* parts,
            cudaStream_t stream) {
  const Index blocks = m.rows < kFullParts ? m.rows : kFullParts;
  if (m.pitch <= kFusedThreads * kQuad) {
    normal_kernel<1><<<blocks, kFusedThreads, 0, stream>>>(m, v, terms, parts);
  } else if (m.pitch <= 2 * kFusedThreads * kQuad) {
    normal_kernel<2><<<blocks, kFusedThreads, 0, stream>>>(m, v, terms, parts);
  } else {
    normal_kernel<4><<<blocks, kFusedThreads, 0, stream>>>(m, v, terms, parts);
  }
  join_parts(parts, blocks, m.pitch, m.cols, out, stream);
}

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
