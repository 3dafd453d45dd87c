#include <cuda_bf16.h>

#include "cuda/entry.cuh"
#include "cuda/launch.cuh"
#include "cuda/products.hpp"

namespace tracenorm::cuda {

namespace {

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

}  // namespace tracenorm::cuda
