#include <algorithm>

#include "cuda/launch.cuh"
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

/// One column of a panel.
struct Column {
  const void* data;
  Offset stride;
};

/// One of all columns of the list; the last one stands for those beyond.
__device__ Column column_of(const ViewList& list, int column) {
  const View& first = list.view[0];
  const int last = list.count * first.columns - 1;
  column = column < last ? column : last;
  const View& v = list.view[column / first.columns];
  const Offset at = column % first.columns * v.column_stride;
  return {first.exact ? static_cast<const void*>(static_cast<const double*>(v.data) + at)
                      : static_cast<const void*>(static_cast<const Real*>(v.data) + at),
          v.row_stride};
}

/// A row of some columns. All are asked for before the first one is converted, which waits for it.
template <int count>
__device__ void load_row(const Column (&column)[count], bool exact, Offset row, double (&x)[count]) {
  if (exact) {
#pragma unroll
    for (int k = 0; k < count; ++k) x[k] = static_cast<const double*>(column[k].data)[row * column[k].stride];
    return;
  }
  Real read[count];
#pragma unroll
  for (int k = 0; k < count; ++k) read[k] = static_cast<const Real*>(column[k].data)[row * column[k].stride];
#pragma unroll
  for (int k = 0; k < count; ++k) x[k] = double(read[k]);
}

/// Blocks are (chunk of rows, tile of outputs), tiles being of `side` columns of a and `b_side` of b; or of either list
/// with itself, first those of a.
template <int b_side>
__global__ void __launch_bounds__(kThreads)
    gram_kernel(const __grid_constant__ ViewList of_a, const __grid_constant__ ViewList of_b, int a_columns,
                int b_columns, bool among_themselves, const Report to) {
  wait_for_those_before();
  const ViewList& a = among_themselves && blockIdx.z == 1 ? of_b : of_a;
  const ViewList& b = among_themselves ? a : of_b;
  const int tile = static_cast<int>(blockIdx.z * gridDim.y + blockIdx.y);
  constexpr int side = kGramTile;
  constexpr int outputs = side * b_side;
  const int a_tiles = (a_columns + side - 1) / side;
  const int first_a = static_cast<int>(blockIdx.y) % a_tiles * side;
  const int first_b = static_cast<int>(blockIdx.y) / a_tiles * b_side;
  Column left[side];
  Column right[b_side];
#pragma unroll
  for (int i = 0; i < side; ++i) left[i] = column_of(a, first_a + i);
#pragma unroll
  for (int k = 0; k < b_side; ++k) right[k] = column_of(b, first_b + k);
  double sum[outputs] = {};
  const Offset rows = b.view[0].rows;
  const Offset length = (rows + gridDim.x - 1) / gridDim.x;
  const Offset begin = blockIdx.x * length;
  const Offset end = begin + length < rows ? begin + length : rows;
  for (Offset r = begin + threadIdx.x; r < end; r += kThreads) {
    double x[side];
    double y[b_side];
    load_row(left, a.view[0].exact, r, x);
    load_row(right, b.view[0].exact, r, y);
#pragma unroll
    for (int i = 0; i < side; ++i) {
#pragma unroll
      for (int k = 0; k < b_side; ++k) sum[i * b_side + k] += x[i] * y[k];
    }
  }
  // As `report`, but tile by tile.
  __shared__ bool last;
  double* const parts = to.part + static_cast<Offset>(tile) * gridDim.x * outputs;
  const double own = join_block<Add>(sum);
  if (threadIdx.x < outputs) {
    parts[blockIdx.x * outputs + threadIdx.x] = own;
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(to.arrived + 1 + tile, gridDim.x - 1) == gridDim.x - 1;
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
    const Offset column = static_cast<Offset>(blockIdx.z) * b_columns + k;
    if (i < a_columns && k < b_columns) to.out[column * a_columns + i] = all;
    __threadfence_system();
  }
  __syncthreads();
  const unsigned tiles = gridDim.y * gridDim.z;
  if (threadIdx.x == 0 && atomicInc(to.arrived, tiles - 1) == tiles - 1) {
    __threadfence_system();
    *static_cast<volatile unsigned long long*>(to.flag) = to.number;
  }
}

/// A thread makes up to kCombineColumns numbers of one row, having read all it needs of that row.
template <bool travels>
__global__ void __launch_bounds__(kThreads)
    combine_kernel(double keep, const __grid_constant__ ViewList in, const __grid_constant__ Small small,
                   const double* on_device, const View out) {
  wait_for_those_before();
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
  constexpr int ahead = 8;  // numbers on their way at a time
  const int columns = in.count * in.view[0].columns;
  for (int row = 0; row < columns; row += ahead) {
    Column column[ahead];
    double x[ahead];
#pragma unroll
    for (int a = 0; a < ahead; ++a) column[a] = column_of(in, row + a);
    load_row(column, in.view[0].exact, r, x);
#pragma unroll
    for (int a = 0; a < ahead; ++a) {
      if (row + a >= columns) continue;
      const int at = (row + a) * out.columns + first;
#pragma unroll
      for (int k = 0; k < kCombineColumns; ++k) {
        if (k < count) sum[k] += x[a] * (travels ? small.value[at + k] : on_device[at + k]);
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
  wait_for_those_before();
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

__global__ void __launch_bounds__(kThreads) narrow_kernel(const View a, Real* of_a, const View b, Real* of_b) {
  wait_for_those_before();
  const View& from = blockIdx.y == 0 ? a : b;
  const Offset r = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x;
  if (r < from.rows) (blockIdx.y == 0 ? of_a : of_b)[r] = Real(get(from, r, 0));
}

__global__ void __launch_bounds__(kThreads) gather_kernel(const View from, const double* factors, double* to) {
  Offset r = 0;
  Offset k = 0;
  if (!place(from, r, k)) return;
  to[r * from.columns + k] = get(from, r, k) * (factors == nullptr ? 1.0 : factors[k]);
}

}  // namespace

GramShape gram_shape(Offset rows, Index a_columns, Index b_columns) {
  constexpr Offset least = 2 * kThreads;  // rows of a chunk
  constexpr Offset enough = 256;          // blocks fill a device: more of them would only have more to add up
  const auto tiles_of = [](Index columns, int side) { return (columns + side - 1) / side; };
  const int b_side = b_columns == 1 ? 1 : kGramTile;
  const int tiles = tiles_of(a_columns, kGramTile) * tiles_of(b_columns, b_side);
  const Offset most = std::max<Offset>(8, enough / tiles);
  return {static_cast<int>(std::clamp<Offset>((rows + least - 1) / least, 1, most)), tiles, kGramTile * b_side};
}

namespace {

void launch_gram(const ViewList& a, const ViewList& b, bool among_themselves, const Report& to, cudaStream_t stream) {
  const Index wide = b.columns();
  const GramShape shape = gram_shape(std::max(a.view[0].rows, b.view[0].rows), a.columns(), wide);
  const dim3 grid(shape.row_chunks, shape.tiles, among_themselves ? 2 : 1);
  if (wide == 1) {
    launch(gram_kernel<1>, grid, kThreads, 0, stream, a, b, a.columns(), wide, among_themselves, to);
  } else {
    launch(gram_kernel<kGramTile>, grid, kThreads, 0, stream, a, b, a.columns(), wide, among_themselves, to);
  }
}

}  // namespace

void gram(const ViewList& a, const ViewList& b, const Report& to, cudaStream_t stream) {
  launch_gram(a, b, false, to, stream);
}

void grams(const ViewList& a, const ViewList& b, const Report& to, cudaStream_t stream) {
  launch_gram(a, b, true, to, stream);
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

void combine(double keep, const ViewList& in, const Small& small, const double* on_device, const View& out,
             cudaStream_t stream) {
  const dim3 grid(blocks_for(out.rows), (out.columns + kCombineColumns - 1) / kCombineColumns);
  if (on_device == nullptr) {
    launch(combine_kernel<true>, grid, kThreads, 0, stream, keep, in, small, on_device, out);
  } else {
    launch(combine_kernel<false>, grid, kThreads, 0, stream, keep, in, small, on_device, out);
  }
}

void combine_diagonal(double keep, const View& in, const double* factors, const View& out, cudaStream_t stream) {
  if (out.rows * out.columns == 0) return;
  diagonal_kernel<<<blocks_for(out.rows * out.columns), kThreads, 0, stream>>>(keep, in, factors, out);
}

void draw(double size, std::uint64_t seed, bool normal, const View& panel, cudaStream_t stream) {
  if (panel.rows * panel.columns == 0) return;
  launch(draw_kernel, blocks_for(panel.rows * panel.columns), kThreads, 0, stream, size, seed, normal, panel);
}

void scale_rows(const View& panel, const View& factors, cudaStream_t stream) {
  scale_kernel<<<blocks_for(panel.rows * panel.columns), kThreads, 0, stream>>>(panel, factors);
}

void gather_rows(const View& from, const double* factors, double* to, cudaStream_t stream) {
  if (from.rows * from.columns == 0) return;
  gather_kernel<<<blocks_for(from.rows * from.columns), kThreads, 0, stream>>>(from, factors, to);
}

void narrow(const View& a, Real* of_a, const View& b, Real* of_b, cudaStream_t stream) {
  const dim3 grid(blocks_for(std::max(a.rows, b.rows)), 2);
  launch(narrow_kernel, grid, kThreads, 0, stream, a, of_a, b, of_b);
}

}  // namespace tracenorm::cuda
