// One entry's function on the device, and four entries at a time. As kernels/entrywise.inc, but for what is decided
// while it runs: a datum that is NaN is missing in every mode.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <type_traits>

#include "cuda/entries.hpp"
#include "cuda/reduce.cuh"

namespace tracenorm::cuda {

using kernels::Mode;

inline constexpr int kQuad = 4;
static_assert(sizeof(Real) == sizeof(float), "the kernels read four floats at once");

/// The mode may be known when the kernel is compiled: a constant then.
template <class L, class ModeIs = Mode>
struct Entry {
  L loss;
  ModeIs mode;
  Real lambda;
  double lambda_exact;

  /// Some datum that all losses accept takes the place of a missing one: what comes of it is not used.
  __device__ static Real datum(Real y) { return y == y ? y : Real(1); }

  __device__ Real value(Real x, Real y, Real w) const {
    Real h = y == y ? w * Real(loss.value(x, datum(y))) : Real(0);
    if (mode == Mode::masked_l1) h += lambda * std::abs(x);
    if (mode == Mode::masked_complement && y != y) h += lambda * x * x;
    return h;
  }

  /// The whole slope; loss and penalty may be taken at places of their own.
  __device__ Real slope(Real loss_x, Real penalty_x, Real y, Real w, Real width) const {
    Real s = y == y ? w * Real(loss.chord(loss_x, width, datum(y))) : Real(0);
    if (mode == Mode::masked_l1) s += lambda * losses::clipped_ratio(penalty_x, width);
    if (mode == Mode::masked_complement && y != y) s += 2 * lambda * penalty_x;
    return s;
  }

  /// What is stored of it.
  __device__ Real stored(Real slope, Real x) const {
    return mode == Mode::observed_complement ? slope - 2 * lambda * x : slope;
  }

  __device__ double conjugate(double s, Real y, Real w, bool weighted) const {
    if (y != y) return mode == Mode::masked_complement ? s * s / (4 * lambda_exact) : 0.0;
    const double scale = double(w);
    if (mode == Mode::masked_l1) {
      const double at_zero = scale * double(loss.subgradient(double(0), double(y)));
      s = Interval{s - lambda_exact, s + lambda_exact}.clamp(at_zero);
    }
    // A division in double costs more than all the rest.
    return weighted ? scale * loss.conjugate(s / scale, double(y)) : loss.conjugate(s, double(y));
  }
};

template <class L>
Entry<L> entry_of(const L& loss, const EntryFunction& function) {
  return {loss, function.mode, Real(function.lambda), function.lambda};
}

/// Calls work(entry) with the modes of penalties on what is seen, and of none, as constants.
template <class L, class Work>
void visit_mode(const L& loss, const EntryFunction& function, Work&& work) {
  const auto with = [&](auto mode) {
    work(Entry<L, decltype(mode)>{loss, mode, Real(function.lambda), function.lambda});
  };
  if (function.mode == Mode::observed) return with(std::integral_constant<Mode, Mode::observed>());
  if (function.mode == Mode::masked) return with(std::integral_constant<Mode, Mode::masked>());
  if (function.mode == Mode::masked_l1) return with(std::integral_constant<Mode, Mode::masked_l1>());
  with(function.mode);
}

/// Calls work(loss) for the loss that the variant holds. `custom` never gets here.
template <class Work>
void visit_loss(const Loss& loss, Work&& work) {
  std::visit(
      [&](const auto& chosen) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(chosen)>, losses::Custom>) work(chosen);
      },
      loss);
}

struct Quad {
  Real value[kQuad];
};

__device__ inline Quad load_quad(const Real* from, Offset quad) {
  const float4 v = reinterpret_cast<const float4*>(from)[quad];
  return {v.x, v.y, v.z, v.w};
}

__device__ inline void store_quad(Real* to, Offset quad, const Quad& q) {
  reinterpret_cast<float4*>(to)[quad] = make_float4(q.value[0], q.value[1], q.value[2], q.value[3]);
}

__device__ inline uint2 roughened(const Quad& q) {
  const __nv_bfloat162 low = __floats2bfloat162_rn(q.value[0], q.value[1]);
  const __nv_bfloat162 high = __floats2bfloat162_rn(q.value[2], q.value[3]);
  return make_uint2(reinterpret_cast<const unsigned&>(low), reinterpret_cast<const unsigned&>(high));
}
__device__ inline void store_rough(std::uint16_t* to, Offset quad, const Quad& q) {
  reinterpret_cast<uint2*>(to)[quad] = roughened(q);
}

/// Data as they are kept: four numbers, or their codes.
__device__ inline uint4 load_kept(const EntryArrays& a, Offset quad) {
  if (a.y != nullptr) return reinterpret_cast<const uint4*>(a.y)[quad];
  return make_uint4(reinterpret_cast<const unsigned*>(a.coded.code)[quad], 0, 0, 0);
}

__device__ inline Quad decoded(const EntryArrays& a, uint4 kept) {
  if (a.y != nullptr) {
    return {__uint_as_float(kept.x), __uint_as_float(kept.y), __uint_as_float(kept.z), __uint_as_float(kept.w)};
  }
  constexpr unsigned missing = static_cast<std::uint8_t>(kernels::CodedData::kMissing);
  Quad q;
#pragma unroll
  for (int l = 0; l < kQuad; ++l) {
    const unsigned code = kept.x >> (8 * l) & 0xffU;
    // 2^23 + code, as it stands in memory: a conversion would take eight times as long.
    const Real level = __uint_as_float(0x4b000000U | code) - Real(8388608);
    q.value[l] = code == missing ? __uint_as_float(0x7fc00000U) : a.coded.offset + a.coded.scale * level;
  }
  return q;
}

__device__ inline Quad load_data(const EntryArrays& a, Offset quad) { return decoded(a, load_kept(a, quad)); }

__device__ inline Quad load_weights(const EntryArrays& a, Offset quad) {
  return a.w != nullptr ? load_quad(a.w, quad) : Quad{1, 1, 1, 1};
}

/// x + width * shift, or x where there is no shift.
__device__ inline Quad shifted(const Quad& x, const Real* shift, Offset quad, Real width) {
  if (shift == nullptr) return x;
  Quad q = load_quad(shift, quad);
#pragma unroll
  for (int l = 0; l < kQuad; ++l) q.value[l] = x.value[l] + width * q.value[l];
  return q;
}

struct QuadPlaces {
  Index row[kQuad];
  Index col[kQuad];
  int count;  ///< how many of them are entries
};

__device__ inline Index number(const Numbers& n, Offset e) {
  return n.narrow ? static_cast<Index>(static_cast<const ShortIndex*>(n.data)[e])
                  : static_cast<const Index*>(n.data)[e];
}

__device__ inline void load_numbers(const Numbers& n, Offset quad, Index (&to)[kQuad]) {
  if (n.narrow) {
    const ushort4 v = reinterpret_cast<const ushort4*>(n.data)[quad];
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
  } else {
    const int4 v = reinterpret_cast<const int4*>(n.data)[quad];
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
  }
}

__device__ inline QuadPlaces places_of(const EntryArrays& a, Offset quad) {
  QuadPlaces p;
  if (a.places.row.data != nullptr) {
    load_numbers(a.places.row, quad, p.row);
    load_numbers(a.places.col, quad, p.col);
    const Offset left = a.count - quad * kQuad;
    p.count = left < kQuad ? static_cast<int>(left) : kQuad;
    return p;
  }
  const auto per_row = static_cast<unsigned>(a.places.pitch / kQuad);
  const auto row = static_cast<Index>(static_cast<unsigned>(quad) / per_row);
  const Index first = static_cast<Index>(static_cast<unsigned>(quad) % per_row) * kQuad;
#pragma unroll
  for (int l = 0; l < kQuad; ++l) {
    p.row[l] = row;
    p.col[l] = first + l;
  }
  p.count = min(kQuad, a.places.cols - first);
  return p;
}

/// As many blocks as there is work for, for those who report nothing.
inline int quad_blocks(Offset count) {
  const int blocks = blocks_for((count + kQuad - 1) / kQuad);
  return blocks < 1 ? 1 : blocks;
}

/// work(number of the quad) for the quads of this thread.
template <class Work>
__device__ void for_quads(Offset count, Work&& work) {
  const Offset quads = (count + kQuad - 1) / kQuad;
  for (Offset q = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x; q < quads;
       q += static_cast<Offset>(gridDim.x) * kThreads) {
    work(q);
  }
}

/// As for_quads, for passes that memory keeps waiting: load(q) of the next quad is on its way during work(q, loaded).
template <class Load, class Work>
__device__ void for_quads_ahead(Offset count, Load&& load, Work&& work) {
  const Offset quads = (count + kQuad - 1) / kQuad;
  const Offset step = static_cast<Offset>(gridDim.x) * kThreads;
  Offset q = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x;
  if (q >= quads) return;
  auto now = load(q);
  while (true) {
    const Offset next = q + step;
    const auto ahead = load(next < quads ? next : q);
    work(q, now);
    if (next >= quads) return;
    q = next;
    now = ahead;
  }
}

}  // namespace tracenorm::cuda
