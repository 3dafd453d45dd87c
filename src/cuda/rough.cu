#include "cuda/entry.cuh"
#include "cuda/launch.cuh"
#include "cuda/rough.hpp"

namespace tracenorm::cuda {

namespace {

__device__ Real widened(unsigned bits) { return __uint_as_float(bits << 16); }

__device__ Quad unpacked(uint2 rough) {
  return {widened(rough.x & 0xffffU), __uint_as_float(rough.x & 0xffff0000U), widened(rough.y & 0xffffU),
          __uint_as_float(rough.y & 0xffff0000U)};
}

/// Sums of several numbers over groups of threads in a warp, every number in a part of the group: thread l of it has
/// the sum of number l * count / lanes. Half as many numbers are left after every step.
template <int count, int lanes>
__device__ Real group_sum(Real (&sum)[count]) {
  static_assert(lanes >= count);
  const int lane = static_cast<int>(threadIdx.x);
  int step = lanes / 2;
#pragma unroll
  for (int left = count / 2; left >= 1; left /= 2, step /= 2) {
    const bool upper = (lane & step) != 0;
#pragma unroll
    for (int i = 0; i < left; ++i) {
      const Real keep = upper ? sum[i + left] : sum[i];
      const Real give = upper ? sum[i] : sum[i + left];
      sum[i] = keep + __shfl_xor_sync(0xffffffffU, give, step);
    }
  }
#pragma unroll
  for (int rest = lanes / count / 2; rest >= 1; rest /= 2) sum[0] += __shfl_xor_sync(0xffffffffU, sum[0], rest);
  return sum[0];
}

/// As normal_kernel: a block takes several rows at a time, so that its threads wait for one another less often.
template <int quads>
__global__ void __launch_bounds__(kShareThreads, 1)
    rough_normal_kernel(const FullRows m, const Rough* slopes, const Real* v, const RowTerms<Real> terms, Real* parts) {
  constexpr int warps = kShareThreads / kWarp;
  constexpr int rows = 4 / quads;
  __shared__ Real of_warp[rows][warps];
  __shared__ Real of_row[rows];
  wait_for_those_before();
  const Index per_row = m.pitch / kQuad;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  Quad vector[quads];
  Quad out[quads] = {};
  uint2 next[rows][quads];
  const auto load_rows = [&](Index first) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const Index row = first + r * static_cast<Index>(gridDim.x);
#pragma unroll
      for (int k = 0; k < quads; ++k) {
        const Index quad = static_cast<Index>(threadIdx.x) + k * kShareThreads;
        const bool there = row < m.rows && quad < per_row;
        next[r][k] = there ? __ldg(reinterpret_cast<const uint2*>(slopes) + static_cast<Offset>(row) * per_row + quad)
                           : make_uint2(0, 0);
      }
    }
  };
#pragma unroll
  for (int k = 0; k < quads; ++k) {
    const Index first = (static_cast<Index>(threadIdx.x) + k * kShareThreads) * kQuad;
#pragma unroll
    for (int l = 0; l < kQuad; ++l) vector[k].value[l] = first + l < m.cols ? v[first + l] : Real(0);
  }
  load_rows(static_cast<Index>(blockIdx.x));
  for (Index first = static_cast<Index>(blockIdx.x); first < m.rows; first += rows * static_cast<Index>(gridDim.x)) {
    uint2 now[rows][quads];
    Real sum[rows] = {};
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int k = 0; k < quads; ++k) now[r][k] = next[r][k];
    }
    load_rows(first + rows * static_cast<Index>(gridDim.x));
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int k = 0; k < quads; ++k) {
        const Quad slope = unpacked(now[r][k]);
#pragma unroll
        for (int l = 0; l < kQuad; ++l) sum[r] += slope.value[l] * vector[k].value[l];
      }
    }
    const Real part = group_sum<rows, kWarp>(sum);
    if (lane % (kWarp / rows) == 0) of_warp[lane / (kWarp / rows)][warp] = part;
    __syncthreads();
    if (warp < rows) {
      Real all[1] = {of_warp[warp][lane]};
      Real whole = group_sum<1, kWarp>(all);
      const Index row = first + warp * static_cast<Index>(gridDim.x);
      if (lane == 0 && row < m.rows) {
        if (terms.factor != nullptr) whole *= terms.factor[row];
        if (terms.addend != nullptr) whole += terms.addend[row];
        if (terms.kept != nullptr) terms.kept[row] = whole;
        if (terms.factor != nullptr) whole *= terms.factor[row];
      }
      if (lane == 0) of_row[warp] = row < m.rows ? whole : Real(0);
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const Real factor = of_row[r];
#pragma unroll
      for (int k = 0; k < quads; ++k) {
        const Quad slope = unpacked(now[r][k]);
#pragma unroll
        for (int l = 0; l < kQuad; ++l) out[k].value[l] += factor * slope.value[l];
      }
    }
  }
#pragma unroll
  for (int k = 0; k < quads; ++k) {
    const Index quad = static_cast<Index>(threadIdx.x) + k * kShareThreads;
    if (quad < per_row) store_quad(parts + static_cast<Offset>(blockIdx.x) * m.pitch, quad, out[k]);
  }
}

__device__ uint2 rough_row(const uint2* v, Offset row) { return __ldg(v + row); }
__device__ uint2 rough_row(const float4* v, Offset row) {
  const float4 x = __ldg(v + row);
  return roughened({x.x, x.y, x.z, x.w});
}

/// Where a piece begins and ends for a thread, if there is one.
struct Stretch {
  Offset next = 0;
  Offset end = 0;
};

/// work(piece, there, its entries) for the pieces of a block, `lanes` threads for each. A warp that is done takes the
/// next ones: pieces are of all lengths. Which warp has which changes nothing. Threads of a warp stay together, so that
/// their sums can travel between them.
template <int lanes, class Work>
__device__ void for_pieces(const SparseRows& m, const Share& own, Work&& work) {
  constexpr Index at_once = kWarp / lanes;
  __shared__ Index taken;
  if (threadIdx.x == 0) taken = own.first;
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const auto take = [&] {
    Index first = lane == 0 ? atomicAdd(&taken, at_once) : 0;
    return __shfl_sync(0xffffffffU, first, 0);
  };
  const auto stretch = [&](Index piece) {
    return piece < own.last ? Stretch{m.start[piece] + lane % lanes, m.start[piece + 1]} : Stretch{};
  };
  Index first = take();
  Stretch now = stretch(first + lane / lanes);
  while (first < own.last) {
    const Index after = take();
    const Stretch next = stretch(after + lane / lanes);  // on its way meanwhile
    const Index piece = first + lane / lanes;
    work(piece, piece < own.last, now);
    first = after;
    now = next;
  }
}

/// `lanes` threads make the four sums of a piece.
template <int lanes, class Row>
__global__ void __launch_bounds__(kShareThreads, 1)
    rough_pieces_kernel(const SparseRows m, const Shares shares, const Row* v, Real* parts) {
  extern __shared__ uint2 vector[];
  wait_for_those_before();
  const Share own = shares.share[blockIdx.x];
  for (Index i = static_cast<Index>(threadIdx.x); i < own.length; i += kShareThreads) {
    vector[i] = rough_row(v, own.from + i);
  }
  const Index base = shares.local ? 0 : own.from;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for_pieces<lanes>(m, own, [&](Index piece, bool there, const Stretch& entries) {
    Real sum[kRoughVectors] = {};
#pragma unroll 4
    for (Offset e = entries.next; e < entries.end; e += lanes) {
      const Real slope = m.m[e];
      const Quad x = unpacked(vector[number(shares.met, e) - base]);
#pragma unroll
      for (int k = 0; k < kRoughVectors; ++k) sum[k] += slope * x.value[k];
    }
    const Real part = group_sum<kRoughVectors, lanes>(sum);
    constexpr int each = lanes / kRoughVectors;
    if (there && lane % each == 0) parts[static_cast<Offset>(piece) * kRoughVectors + lane / each] = part;
  });
}

/// Some blocks need more of the shared memory than others are given.
template <class Kernel>
void allow(Kernel* kernel, std::size_t bytes) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

template <class Row>
void times_shares(const SparseRows& m, const Shares& shares, const Row* v, const RowTerms<Real>& terms, Real* parts,
                  cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(shares.longest) * kRoughBytes;
  const auto run = [&](auto* kernel) {
    allow(kernel, bytes);
    launch(kernel, shares.count, kShareThreads, bytes, stream, m, shares, v, parts);
  };
  m.lanes == 32 ? run(rough_pieces_kernel<32, Row>) : run(rough_pieces_kernel<8, Row>);
  join_pieces(m, kRoughVectors, parts, terms, stream);
}

/// `lanes` threads move the entries of a piece.
template <int lanes>
__global__ void __launch_bounds__(kShareThreads, 1)
    move_kernel(const SparseRows m, const Shares shares, const AtomAlongPieces atom, Real* x, Real t, bool reports,
                const Report to) {
  extern __shared__ Real met[];
  wait_for_those_before();
  const Share own = shares.share[blockIdx.x];
  for (Index i = static_cast<Index>(threadIdx.x); i < own.length; i += kShareThreads) met[i] = atom.met[own.from + i];
  const Index base = shares.local ? 0 : own.from;
  Real most = 0;
  for_pieces<lanes>(m, own, [&](Index piece, bool there, const Stretch& entries) {
    const Real factor = there ? atom.own[shares.own[piece]] : Real(0);
    constexpr int ahead = 4;
    for (Offset e = entries.next; e < entries.end; e += ahead * lanes) {
      Real from[ahead];
      Real target[ahead];
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        const Offset at = e + a * lanes;
        from[a] = at < entries.end ? x[at] : Real(0);
        target[a] = at < entries.end ? factor * met[number(shares.met, at) - base] : Real(0);
      }
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        const Offset at = e + a * lanes;
        const Real change = target[a] - from[a];
        most = fmaxf(most, fabsf(change));
        if (at < entries.end) x[at] = t >= 1 ? target[a] : from[a] + t * change;
      }
    }
  });
  double largest[1] = {double(most)};
  if (reports) report<Max, kShareThreads>(largest, to);
}

}  // namespace

void rough_normal(const FullRows& m, const Rough* slopes, const Real* v, const RowTerms<Real>& terms, Real* out,
                  Real* parts, cudaStream_t stream) {
  const Index blocks = m.rows < processors() ? m.rows : processors();
  if (m.pitch <= kShareThreads * kQuad) {
    launch(rough_normal_kernel<1>, blocks, kShareThreads, 0, stream, m, slopes, v, terms, parts);
  } else {
    launch(rough_normal_kernel<2>, blocks, kShareThreads, 0, stream, m, slopes, v, terms, parts);
  }
  if (out != nullptr) join_parts(parts, blocks, m.pitch, m.cols, out, stream);
}

void rough_times(const SparseRows& m, const Shares& shares, const Real* v, const RowTerms<Real>& terms, Real* parts,
                 cudaStream_t stream) {
  times_shares(m, shares, reinterpret_cast<const float4*>(v), terms, parts, stream);
}

void rough_times(const SparseRows& m, const Shares& shares, const Rough* v, const RowTerms<Real>& terms, Real* parts,
                 cudaStream_t stream) {
  times_shares(m, shares, reinterpret_cast<const uint2*>(v), terms, parts, stream);
}

void move(const SparseRows& m, const Shares& shares, const AtomAlongPieces& atom, Real* x, double t, const Report* to,
          cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(shares.longest) * sizeof(Real);
  const Report report = to != nullptr ? *to : Report{};
  const auto run = [&](auto* kernel) {
    allow(kernel, bytes);
    launch(kernel, shares.count, kShareThreads, bytes, stream, m, shares, atom, x, Real(t), to != nullptr, report);
  };
  m.lanes == 32 ? run(move_kernel<32>) : run(move_kernel<8>);
}

}  // namespace tracenorm::cuda
