// Sums over a grid, in an order that does not depend on when its blocks run.
#pragma once

#include "cuda/report.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kWarp = 32;

/// A grid of so many threads, or a few more.
inline int blocks_for(Offset threads) { return static_cast<int>((threads + kThreads - 1) / kThreads); }

/// So many blocks at most reduce: they fill every device several times over.
inline constexpr int kMostBlocks = 2112;

struct Add {
  static __device__ double join(double a, double b) { return a + b; }
};
struct Max {  // of numbers that are not negative; NaN loses
  static __device__ double join(double a, double b) { return fmax(a, b); }
};

/// Joins over the threads of a block; thread i has number i of the answer, for i < N.
template <class Join, int N, int threads = kThreads>
__device__ double join_block(double (&value)[N]) {
  static_assert(N <= threads);
  __shared__ double warps[threads / kWarp][N];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    double v = value[i];
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) v = Join::join(v, __shfl_down_sync(0xffffffffU, v, step));
    if (lane == 0) warps[warp][i] = v;
  }
  __syncthreads();
  double sum = 0;
  if (threadIdx.x < N) {
    sum = warps[0][threadIdx.x];
    for (int w = 1; w < threads / kWarp; ++w) sum = Join::join(sum, warps[w][threadIdx.x]);
  }
  __syncthreads();  // `warps` may be used again
  return sum;
}

/// Joins N numbers over a grid of one dimension and blocks of so many threads, and reports them.
template <class Join, int threads = kThreads, int N>
__device__ void report(double (&value)[N], const Report& to) {
  __shared__ bool last;
  const double own = join_block<Join, N, threads>(value);
  if (threadIdx.x < N) {
    to.part[static_cast<long long>(blockIdx.x) * N + threadIdx.x] = own;
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(to.arrived, gridDim.x - 1) == gridDim.x - 1;  // back to zero at the last one
  __syncthreads();
  if (!last) return;
  __threadfence();
#pragma unroll
  for (int i = 0; i < N; ++i) {
    double sum = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += threads) {
      sum = Join::join(sum, __ldcg(to.part + static_cast<long long>(b) * N + i));
    }
    value[i] = sum;
  }
  const double all = join_block<Join, N, threads>(value);
  if (threadIdx.x < N) {
    to.out[threadIdx.x] = all;
    __threadfence_system();
  }
  __syncthreads();
  if (threadIdx.x == 0) *static_cast<volatile unsigned long long*>(to.flag) = to.number;
}

}  // namespace tracenorm::cuda
