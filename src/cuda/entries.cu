#include "cuda/entry.cuh"
#include "cuda/launch.cuh"
#include "model/kink_shift.hpp"

namespace tracenorm::cuda {

namespace {

/// Where slopes are made and learnt from.
template <class Function, bool with_conjugates>
__global__ void __launch_bounds__(kThreads, with_conjugates ? 3 : 4)  // as many as hide the delay of memory
    linearize_kernel(const Function h, const EntryArrays a, Real width, bool reports, const Report to) {
  wait_for_those_before();
  double sums[kLinearizeSums] = {};
  struct Kept {
    Quad x;
    uint4 data;
  };
  const auto load = [&](Offset q) { return Kept{load_quad(a.x, q), load_kept(a, q)}; };
  for_quads_ahead(a.count, load, [&](Offset q, const Kept& kept) {
    const Quad& x = kept.x;
    const Quad y = decoded(a, kept.data);
    const Quad w = load_weights(a, q);
    const Quad loss_x = shifted(x, a.loss_shift, q, width);
    const Quad penalty_x = shifted(x, a.penalty_shift, q, width);
    Quad stored;
    Real value = 0;
    Real inner = 0;
    Real square = 0;
#pragma unroll
    for (int l = 0; l < kQuad; ++l) {
      const Real s = h.slope(loss_x.value[l], penalty_x.value[l], y.value[l], w.value[l], width);
      stored.value[l] = h.stored(s, x.value[l]);
      if (!reports) continue;
      value += h.value(x.value[l], y.value[l], w.value[l]);
      inner += s * x.value[l];
      if (with_conjugates) sums[2] += h.conjugate(double(s), y.value[l], w.value[l], a.w != nullptr);
      if (h.mode == Mode::observed_complement) sums[3] += double(x.value[l]) * double(x.value[l]);
      square += stored.value[l] * stored.value[l];
    }
    sums[0] += double(value);  // four at a time: conversions are slow
    sums[1] += double(inner);
    sums[4] += double(square);
    if (a.slope != nullptr) store_quad(a.slope, q, stored);
    if (a.rough != nullptr) store_rough(a.rough, q, stored);
  });
  if (reports) report<Add>(sums, to);
}

__device__ Quad target_of(const EntryArrays& a, const Atom& atom, Offset q) {
  if (atom.left == nullptr) return load_quad(a.target, q);
  const QuadPlaces p = places_of(a, q);
  if (a.places.row.data == nullptr) {  // in one row
    Quad target = load_quad(atom.right, p.col[0] / kQuad);
    const Real factor = atom.left[p.row[0]];
#pragma unroll
    for (int l = 0; l < kQuad; ++l) target.value[l] *= factor;
    return target;
  }
  Quad target;
#pragma unroll
  for (int l = 0; l < kQuad; ++l) target.value[l] = l < p.count ? atom.left[p.row[l]] * atom.right[p.col[l]] : Real(0);
  return target;
}

template <class L, bool smoothed>
__global__ void __launch_bounds__(kThreads) segment_kernel(const Entry<L> h, const EntryArrays a, const Atom atom,
                                                           const SegmentTimes times, Real width, const Report to) {
  double sums[kSegmentSums] = {};
  for_quads(a.count, [&](Offset q) {
    const Quad x = load_quad(a.x, q);
    const Quad y = load_data(a, q);
    const Quad w = load_weights(a, q);
    const Quad loss_x = smoothed ? shifted(x, a.loss_shift, q, width) : x;
    const Quad penalty_x = smoothed ? shifted(x, a.penalty_shift, q, width) : x;
    const Quad target = target_of(a, atom, q);
#pragma unroll
    for (int p = 0; p < kSegmentPoints; ++p) {
      const Real t = times.t[p];
      Real value = 0;
      Real derivative = 0;
#pragma unroll
      for (int l = 0; l < kQuad; ++l) {
        const Real direction = target.value[l] - x.value[l];
        const Real step = t * direction;
        const Real at = x.value[l] + step;
        const Real s = h.slope(loss_x.value[l] + step, penalty_x.value[l] + step, y.value[l], w.value[l],
                               smoothed ? width : Real(0));
        if (!smoothed) value += h.value(at, y.value[l], w.value[l]);
        derivative += s * direction;
        if (h.mode == Mode::observed_complement) {
          sums[2 * kSegmentPoints + p] += double(at) * double(at);
          sums[3 * kSegmentPoints + p] += 2 * double(at) * double(direction);
        }
      }
      sums[p] += double(value);
      sums[kSegmentPoints + p] += double(derivative);
    }
  });
  report<Add>(sums, to);
}

template <class L>
__global__ void __launch_bounds__(kThreads)
    aim_without_kernel(const Entry<L> h, const EntryArrays a, const Atom atom, Real scale, bool smoothed, Real width,
                       bool reports, const Report to) {
  double sums[kAimSums] = {};
  for_quads(a.count, [&](Offset q) {
    const Quad x = load_quad(a.x, q);
    const Quad term = target_of(a, atom, q);
    Quad target;
#pragma unroll
    for (int l = 0; l < kQuad; ++l) target.value[l] = scale * (x.value[l] - term.value[l]);
    store_quad(a.target, q, target);
    if (!reports) return;
    const Quad y = load_data(a, q);
    const Quad w = load_weights(a, q);
    const Quad slope = smoothed ? load_quad(a.slope, q) : Quad{};
#pragma unroll
    for (int l = 0; l < kQuad; ++l) {
      const Real at = target.value[l];
      if (smoothed) {
        const Real there = h.stored(h.slope(at, at, y.value[l], w.value[l], width), at);
        sums[1] += 0.5 * (double(slope.value[l]) + double(there)) * (double(at) - double(x.value[l]));
      } else {
        sums[0] += double(h.value(at, y.value[l], w.value[l]));
        sums[2] += double(at) * double(at);
      }
    }
  });
  if (reports) report<Add>(sums, to);
}

__global__ void __launch_bounds__(kThreads, 6)
    move_kernel(const EntryArrays a, const Atom atom, Real t, bool all, bool reports, const Report to) {
  wait_for_those_before();
  Real most = 0;
  const auto load = [&](Offset q) { return load_quad(a.x, q); };
  for_quads_ahead(a.count, load, [&](Offset q, Quad x) {
    const Quad target = target_of(a, atom, q);
    const Quad y = reports && !all ? load_data(a, q) : Quad{};
#pragma unroll
    for (int l = 0; l < kQuad; ++l) {
      const Real change = target.value[l] - x.value[l];
      if (all || y.value[l] == y.value[l]) most = fmaxf(most, fabsf(change));
      x.value[l] = t >= 1 ? target.value[l] : x.value[l] + t * change;
    }
    store_quad(a.x, q, x);
  });
  double largest[1] = {double(most)};
  if (reports) report<Max>(largest, to);
}

template <class L>
__global__ void __launch_bounds__(kThreads) shift_kernel(const Entry<L> h, const EntryArrays a, double width) {
  for_quads(a.count, [&](Offset q) {
    const Quad x = load_quad(a.x, q);
    if (a.loss_shift != nullptr) {
      const Quad y = load_data(a, q);
      Quad shift = load_quad(a.loss_shift, q);
#pragma unroll
      for (int l = 0; l < kQuad; ++l) {
        if (y.value[l] != y.value[l]) continue;
        const double z = double(x.value[l]) + width * double(shift.value[l]);
        shift.value[l] = Real(kink_shift(h.loss, z, width, double(y.value[l])) / width);
      }
      store_quad(a.loss_shift, q, shift);
    }
    if (a.penalty_shift != nullptr) {
      Quad shift = load_quad(a.penalty_shift, q);
#pragma unroll
      for (int l = 0; l < kQuad; ++l) {
        shift.value[l] = losses::clamp(x.value[l] / Real(width) + shift.value[l], Real(-1), Real(1));
      }
      store_quad(a.penalty_shift, q, shift);
    }
  });
}

__global__ void __launch_bounds__(kThreads) blend_kernel(Real* average, const Real* from, Offset count, Real t) {
  for_quads(count, [&](Offset q) {
    Quad mean = load_quad(average, q);
    const Quad now = load_quad(from, q);
#pragma unroll
    for (int l = 0; l < kQuad; ++l) mean.value[l] += t * (now.value[l] - mean.value[l]);
    store_quad(average, q, mean);
  });
}

template <class L>
__global__ void __launch_bounds__(kThreads) held_out_kernel(const Entry<L> h, const EntryArrays a, const Report to) {
  double sums[kHeldOutSums] = {};
  for_quads(a.count, [&](Offset q) {
    const Quad x = load_quad(a.x, q);
    const Quad y = load_quad(a.y, q);
    for (int l = 0; l < kQuad; ++l) {
      if (q * kQuad + l >= a.count) return;
      const auto at = double(x.value[l]);
      const auto datum = double(y.value[l]);
      sums[0] += (at - datum) * (at - datum);
      sums[1] += fabs(at - datum);
      sums[2] += double(h.loss.value(at, datum));
    }
  });
  report<Add>(sums, to);
}

/// Rows of multiples of kFactorStep numbers.
__global__ void __launch_bounds__(kThreads)
    sample_kernel(const EntryArrays a, const float4* left, const float4* right, Index quads, Real scale, Real* to) {
  for_quads(a.count, [&](Offset q) {
    const QuadPlaces p = places_of(a, q);
    Quad x{};
#pragma unroll
    for (int l = 0; l < kQuad; ++l) {
      if (l >= p.count) continue;
      const float4* u = left + static_cast<Offset>(p.row[l]) * quads;
      const float4* v = right + static_cast<Offset>(p.col[l]) * quads;
      Real sum = 0;
      for (Index k = 0; k < quads; ++k) {
        const float4 f = u[k];
        const float4 g = v[k];
        sum += f.x * g.x + f.y * g.y + f.z * g.z + f.w * g.w;
      }
      x.value[l] = scale * sum;
    }
    store_quad(to, q, x);
  });
}

}  // namespace

int report_blocks(Offset count) { return quad_blocks(count) < kMostBlocks ? quad_blocks(count) : kMostBlocks; }

void linearize(const EntryFunction& f, const EntryArrays& a, double width, bool with_conjugates, const Report* to,
               cudaStream_t stream) {
  const int blocks = report_blocks(a.count);
  const Report report = to != nullptr ? *to : Report{};
  visit_loss(f.loss, [&](const auto& loss) {
    visit_mode(loss, f, [&]<class Function>(const Function& h) {
      if (with_conjugates) {
        launch(linearize_kernel<Function, true>, blocks, kThreads, 0, stream, h, a, Real(width), to != nullptr, report);
      } else {
        launch(linearize_kernel<Function, false>, blocks, kThreads, 0, stream, h, a, Real(width), to != nullptr,
               report);
      }
    });
  });
}

void segment(const EntryFunction& f, const EntryArrays& a, const Atom& atom, const SegmentTimes& times,
             const double* width, const Report& to, cudaStream_t stream) {
  visit_loss(f.loss, [&]<class L>(const L& loss) {
    const int blocks = report_blocks(a.count);
    if (width != nullptr) {
      segment_kernel<L, true><<<blocks, kThreads, 0, stream>>>(entry_of(loss, f), a, atom, times, Real(*width), to);
    } else {
      segment_kernel<L, false><<<blocks, kThreads, 0, stream>>>(entry_of(loss, f), a, atom, times, Real(0), to);
    }
  });
}

void aim_without(const EntryFunction& f, const EntryArrays& a, const Atom& atom, double scale, const double* width,
                 const Report* to, cudaStream_t stream) {
  visit_loss(f.loss, [&](const auto& loss) {
    aim_without_kernel<<<report_blocks(a.count), kThreads, 0, stream>>>(
        entry_of(loss, f), a, atom, Real(scale), width != nullptr, Real(width != nullptr ? *width : 0), to != nullptr,
        to != nullptr ? *to : Report{});
  });
}

void move(const EntryArrays& a, const Atom& atom, double t, bool all, const Report* to, cudaStream_t stream) {
  launch(move_kernel, report_blocks(a.count), kThreads, 0, stream, a, atom, Real(t), all, to != nullptr,
         to != nullptr ? *to : Report{});
}

void shift_kinks(const EntryFunction& f, const EntryArrays& a, double width, cudaStream_t stream) {
  visit_loss(f.loss, [&](const auto& loss) {
    shift_kernel<<<quad_blocks(a.count), kThreads, 0, stream>>>(entry_of(loss, f), a, width);
  });
}

void blend(Real* average, const Real* from, Offset count, double t, cudaStream_t stream) {
  blend_kernel<<<quad_blocks(count), kThreads, 0, stream>>>(average, from, count, Real(t));
}

void held_out(const EntryFunction& f, const EntryArrays& a, const Report& to, cudaStream_t stream) {
  visit_loss(f.loss, [&](const auto& loss) {
    held_out_kernel<<<report_blocks(a.count), kThreads, 0, stream>>>(entry_of(loss, f), a, to);
  });
}

void load(const EntryArrays& a, const Real* left, const Real* right, Index columns, double scale, Real* to,
          cudaStream_t stream) {
  sample_kernel<<<quad_blocks(a.count), kThreads, 0, stream>>>(a, reinterpret_cast<const float4*>(left),
                                                               reinterpret_cast<const float4*>(right), columns / kQuad,
                                                               Real(scale), to);
}

}  // namespace tracenorm::cuda
