#include "cuda/reduce.cuh"
#include "cuda/vectors.hpp"

namespace tracenorm::cuda {

namespace {

__device__ double get(const View& v, Offset row, Offset column) {
  const Offset at = row * v.row_stride + column * v.column_stride;
  return v.exact ? static_cast<const double*>(v.data)[at] : double(static_cast<const Real*>(v.data)[at]);
}

__device__ void set(const View& v, Offset row, Offset column, double value) {
  const Offset at = row * v.row_stride + column * v.column_stride;
  if (v.exact) {
    static_cast<double*>(v.data)[at] = value;
  } else {
    static_cast<Real*>(v.data)[at] = Real(value);
  }
}

int blocks_for(Offset count) { return static_cast<int>((count + kThreads - 1) / kThreads); }

/// One column of a panel, or none.
struct Column {
  const void* data;
  Offset stride;
  bool exact;
  __device__ double operator[](Offset row) const {
    if (data == nullptr) return 0;
    return exact ? static_cast<const double*>(data)[row * stride]
                 : double(static_cast<const Real*>(data)[row * stride]);
  }
};

__device__ Column column_of(const View& v, Index k) {
  const Offset at = k * v.column_stride;
  return {v.exact ? static_cast<const void*>(static_cast<const double*>(v.data) + at)
                  : static_cast<const void*>(static_cast<const Real*>(v.data) + at),
          v.row_stride, v.exact};
}

/// Blocks are (chunk of rows, tile of outputs), tiles being of `side` columns of a and `b_side` of b.
template <int b_side>
__global__ void __launch_bounds__(kThreads)
    gram_kernel(const ViewList a, const View b, int a_columns, const Report to) {
  constexpr int side = kGramTile;
  constexpr int outputs = side * b_side;
  const int a_tiles = (a_columns + side - 1) / side;
  const int first_a = static_cast<int>(blockIdx.y) % a_tiles * side;
  const int first_b = static_cast<int>(blockIdx.y) / a_tiles * b_side;
  const int width = a.view[0].columns;
  Column left[side];
  Column right[b_side];
#pragma unroll
  for (int i = 0; i < side; ++i) {
    const int column = first_a + i;
    left[i] = column < a_columns ? column_of(a.view[column / width], column % width) : Column{nullptr, 0, false};
  }
#pragma unroll
  for (int k = 0; k < b_side; ++k) {
    right[k] = first_b + k < b.columns ? column_of(b, first_b + k) : Column{nullptr, 0, false};
  }
  double sum[outputs] = {};
  const Offset length = (b.rows + gridDim.x - 1) / gridDim.x;
  const Offset begin = blockIdx.x * length;
  const Offset end = begin + length < b.rows ? begin + length : b.rows;
  for (Offset r = begin + threadIdx.x; r < end; r += kThreads) {
    double x[side];
    double y[b_side];
#pragma unroll
    for (int i = 0; i < side; ++i) x[i] = left[i][r];
#pragma unroll
    for (int k = 0; k < b_side; ++k) y[k] = right[k][r];
#pragma unroll
    for (int i = 0; i < side; ++i) {
#pragma unroll
      for (int k = 0; k < b_side; ++k) sum[i * b_side + k] += x[i] * y[k];
    }
  }
  // As `report`, but tile by tile.
  __shared__ bool last;
  double* const parts = to.part + static_cast<Offset>(blockIdx.y) * gridDim.x * outputs;
  const double own = join_block<Add>(sum);
  if (threadIdx.x < outputs) {
    parts[blockIdx.x * outputs + threadIdx.x] = own;
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(to.arrived + 1 + blockIdx.y, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  constexpr int lanes = kThreads / (kGramTile * kGramTile);
  __shared__ double strided[lanes][outputs];
  const int output = threadIdx.x % outputs;
  const int lane = threadIdx.x / outputs;
  if (lane < lanes) {
    double part = 0;
    for (int c = lane; c < gridDim.x; c += lanes) part += __ldcg(parts + c * outputs + output);
    strided[lane][output] = part;
  }
  __syncthreads();
  if (threadIdx.x < outputs) {
    double all = strided[0][output];
    for (int l = 1; l < lanes; ++l) all += strided[l][output];
    const int i = first_a + output / b_side;
    const int k = first_b + output % b_side;
    if (i < a_columns && k < b.columns) to.out[static_cast<Offset>(k) * a_columns + i] = all;
    __threadfence_system();
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicInc(to.arrived, gridDim.y - 1) == gridDim.y - 1) {
    __threadfence_system();
    *static_cast<volatile unsigned long long*>(to.flag) = to.number;
  }
}

/// A thread makes up to kCombineColumns numbers of one row, having read all it needs of that row.
template <bool travels>
__global__ void __launch_bounds__(kThreads)
    combine_kernel(double keep, const ViewList in, const Small small, const double* on_device, const View out) {
  const Offset r = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x;
  if (r >= out.rows) return;
  const int first = static_cast<int>(blockIdx.y) * kCombineColumns;
  const int count = min(kCombineColumns, out.columns - first);
  double sum[kCombineColumns] = {};
  if (keep != 0) {
#pragma unroll
    for (int k = 0; k < kCombineColumns; ++k) {
      if (k < count) sum[k] = keep * get(out, r, first + k);
    }
  }
  int row = 0;
  for (int p = 0; p < in.count; ++p) {
    const View& one = in.view[p];
    for (int c = 0; c < one.columns; ++c, ++row) {
      const double x = get(one, r, c);
      const int at = row * out.columns + first;
#pragma unroll
      for (int k = 0; k < kCombineColumns; ++k) {
        if (k < count) sum[k] += x * (travels ? small.value[at + k] : on_device[at + k]);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kCombineColumns; ++k) {
    if (k < count) set(out, r, first + k, sum[k]);
  }
}

/// `columns` is that of the block, or the next larger one that there is a kernel for.
template <int columns>
__global__ void __launch_bounds__(kThreads)
    take_out_kernel(const ViewList basis, int basis_columns, const double* projection, double* on_host,
                    const View block, const Report square) {
  if (blockIdx.x == 0) {
    for (int n = threadIdx.x; n < basis_columns * block.columns; n += kThreads) on_host[n] = projection[n];
    __threadfence_system();
  }
  const Offset r = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x;
  double rest[columns] = {};
  if (r < block.rows) {
#pragma unroll
    for (int k = 0; k < columns; ++k) rest[k] = k < block.columns ? get(block, r, k) : 0.0;
    int row = 0;
    for (int p = 0; p < basis.count; ++p) {
      for (int c = 0; c < basis.view[p].columns; ++c, ++row) {
        const double q = get(basis.view[p], r, c);
#pragma unroll
        for (int k = 0; k < columns; ++k) {
          if (k < block.columns) rest[k] -= q * projection[k * basis_columns + row];
        }
      }
    }
#pragma unroll
    for (int k = 0; k < columns; ++k) {
      if (k >= block.columns) continue;
      set(block, r, k, rest[k]);
      rest[k] = get(block, r, k);  // as it was rounded
    }
  }
  double sums[columns * columns];
#pragma unroll
  for (int k = 0; k < columns; ++k) {
#pragma unroll
    for (int i = 0; i < columns; ++i) sums[k * columns + i] = rest[k] * rest[i];
  }
  report<Add>(sums, square);
}

/// Every thread factorises the small matrix for itself, R'R = D G D with D making the diagonal one, and turns a row by
/// D R^-1. A column whose part outside the earlier ones is short becomes zero.
__global__ void __launch_bounds__(kThreads)
    orthonormalize_kernel(const double* gram, double dependent, const Projection projection, double least,
                          const View block, const View out) {
  constexpr int most = kGramTile;
  const int n = block.columns;
  double eigenvalue = 0;
  if (projection.data != nullptr) {
    for (int k = 0; k < n; ++k) eigenvalue = fmax(eigenvalue, projection.data[(k + 1) * projection.rows - n + k]);
  }
  const double shortest = least * least * eigenvalue * eigenvalue;
  double scale[most];
  double factor[most][most];  // R, upper triangle
#pragma unroll
  for (int j = 0; j < most; ++j) {
    if (j >= n) break;
    const double square = gram[j * n + j];
    scale[j] = square <= shortest ? 0.0 : rsqrt(square);  // what is not finite stays so
    double rest = square <= shortest ? 0.0 : 1.0;
#pragma unroll
    for (int i = 0; i < most; ++i) {
      if (i >= j) break;
      double x = gram[j * n + i] * scale[i] * scale[j];
#pragma unroll
      for (int k = 0; k < most; ++k) {
        if (k < i) x -= factor[k][i] * factor[k][j];
      }
      factor[i][j] = factor[i][i] == 0 ? 0.0 : x / factor[i][i];
      rest -= factor[i][j] * factor[i][j];
    }
    factor[j][j] = rest <= dependent ? 0.0 : sqrt(rest);
  }
  const Offset r = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x;
  if (r >= block.rows) return;
  double turned[most];
#pragma unroll
  for (int j = 0; j < most; ++j) {
    if (j >= n) break;
    double x = get(block, r, j) * scale[j];
#pragma unroll
    for (int i = 0; i < most; ++i) {
      if (i < j) x -= turned[i] * factor[i][j];
    }
    turned[j] = factor[j][j] == 0 ? 0.0 : x / factor[j][j];
  }
#pragma unroll
  for (int j = 0; j < most; ++j) {
    if (j < n) set(out, r, j, turned[j]);
  }
}

/// Rows along the threads for columns of doubles, columns along the threads for rows of Real.
__device__ bool place(const View& panel, Offset& row, Offset& column) {
  const Offset n = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x;
  if (n >= panel.rows * panel.columns) return false;
  row = panel.exact ? n % panel.rows : n / panel.columns;
  column = panel.exact ? n / panel.rows : n % panel.columns;
  return true;
}

__global__ void __launch_bounds__(kThreads)
    diagonal_kernel(double keep, const View in, const double* factors, const View out) {
  Offset r = 0;
  Offset k = 0;
  if (!place(out, r, k)) return;
  set(out, r, k, (keep == 0 ? 0.0 : keep * get(out, r, k)) + factors[k] * get(in, r, k));
}

/// A hash of 64 bits (the finaliser of SplitMix64): number n of the stream that a seed names.
__device__ std::uint64_t hashed(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// In (0, 1).
__device__ double uniform(std::uint64_t seed, std::uint64_t n) {
  return (static_cast<double>(hashed(seed, n) >> 11) + 0.5) * 0x1.0p-53;
}

__global__ void __launch_bounds__(kThreads)
    draw_kernel(double size, std::uint64_t seed, bool normal, const View panel) {
  Offset r = 0;
  Offset k = 0;
  if (!place(panel, r, k)) return;
  const auto n = static_cast<std::uint64_t>(k * panel.rows + r);
  double drawn = 0;
  if (normal) {
    drawn = sqrt(-2 * log(uniform(seed, 2 * n))) * cospi(2 * uniform(seed, 2 * n + 1));  // Box and Muller
  } else {
    drawn = 3.4641016151377544 * (uniform(seed, n) - 0.5);
  }
  set(panel, r, k, get(panel, r, k) + size * drawn);
}

__global__ void __launch_bounds__(kThreads) scale_kernel(const View panel, const View factors) {
  Offset r = 0;
  Offset k = 0;
  if (!place(panel, r, k)) return;
  set(panel, r, k, get(panel, r, k) * get(factors, r, 0));
}

template <class Number>
__global__ void __launch_bounds__(kThreads) gather_kernel(const View from, const double* factors, Number* to) {
  Offset r = 0;
  Offset k = 0;
  if (!place(from, r, k)) return;
  to[r * from.columns + k] = Number(get(from, r, k) * (factors == nullptr ? 1.0 : factors[k]));
}

}  // namespace

GramShape gram_shape(Offset rows, Index a_columns, Index b_columns) {
  constexpr Offset least = 2 * kThreads;  // rows of a chunk
  constexpr Offset most = 128;
  const Offset chunks = (rows + least - 1) / least;
  const auto tiles = [](Index columns, int side) { return (columns + side - 1) / side; };
  const int b_side = b_columns == 1 ? 1 : kGramTile;
  return {static_cast<int>(chunks < 1      ? 1
                           : chunks > most ? most
                                           : chunks),
          tiles(a_columns, kGramTile) * tiles(b_columns, b_side), kGramTile * b_side};
}

void gram(const ViewList& a, const View& b, const Report& to, cudaStream_t stream) {
  const GramShape shape = gram_shape(b.rows, a.columns(), b.columns);
  const dim3 grid(shape.row_chunks, shape.tiles);
  if (b.columns == 1) {
    gram_kernel<1><<<grid, kThreads, 0, stream>>>(a, b, a.columns(), to);
  } else {
    gram_kernel<kGramTile><<<grid, kThreads, 0, stream>>>(a, b, a.columns(), to);
  }
}

std::size_t take_out_parts(Offset rows, Index columns) {
  return static_cast<std::size_t>(blocks_for(rows)) * static_cast<std::size_t>(columns) *
         static_cast<std::size_t>(columns);
}

void take_out(const ViewList& basis, const double* projection, double* on_host, const View& block, const Report& square,
              cudaStream_t stream) {
  const int blocks = blocks_for(block.rows);
  if (block.columns == 1) {
    take_out_kernel<1><<<blocks, kThreads, 0, stream>>>(basis, basis.columns(), projection, on_host, block, square);
  } else {
    take_out_kernel<kCombineColumns>
        <<<blocks, kThreads, 0, stream>>>(basis, basis.columns(), projection, on_host, block, square);
  }
}

void orthonormalize(const double* gram, double dependent, const Projection& projection, double least, const View& block,
                    const View& out, cudaStream_t stream) {
  orthonormalize_kernel<<<blocks_for(block.rows), kThreads, 0, stream>>>(gram, dependent, projection, least, block,
                                                                         out);
}

void combine(double keep, const ViewList& in, const Small& small, const double* on_device, const View& out,
             cudaStream_t stream) {
  const dim3 grid(blocks_for(out.rows), (out.columns + kCombineColumns - 1) / kCombineColumns);
  if (on_device == nullptr) {
    combine_kernel<true><<<grid, kThreads, 0, stream>>>(keep, in, small, nullptr, out);
  } else {
    combine_kernel<false><<<grid, kThreads, 0, stream>>>(keep, in, small, on_device, out);
  }
}

void combine_diagonal(double keep, const View& in, const double* factors, const View& out, cudaStream_t stream) {
  if (out.rows * out.columns == 0) return;
  diagonal_kernel<<<blocks_for(out.rows * out.columns), kThreads, 0, stream>>>(keep, in, factors, out);
}

void draw(double size, std::uint64_t seed, bool normal, const View& panel, cudaStream_t stream) {
  if (panel.rows * panel.columns == 0) return;
  draw_kernel<<<blocks_for(panel.rows * panel.columns), kThreads, 0, stream>>>(size, seed, normal, panel);
}

void scale_rows(const View& panel, const View& factors, cudaStream_t stream) {
  scale_kernel<<<blocks_for(panel.rows * panel.columns), kThreads, 0, stream>>>(panel, factors);
}

void gather_rows(const View& from, const double* factors, double* to, cudaStream_t stream) {
  if (from.rows * from.columns == 0) return;
  gather_kernel<<<blocks_for(from.rows * from.columns), kThreads, 0, stream>>>(from, factors, to);
}

void gather_rows(const View& from, const double* factors, Real* to, cudaStream_t stream) {
  if (from.rows * from.columns == 0) return;
  gather_kernel<<<blocks_for(from.rows * from.columns), kThreads, 0, stream>>>(from, factors, to);
}

}  // namespace tracenorm::cuda
