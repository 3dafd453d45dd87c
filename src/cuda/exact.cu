#include "cuda/entry.cuh"
#include "cuda/exact.hpp"
#include "model/entry_slopes.hpp"

namespace tracenorm::cuda {

namespace {

/// A sum whose rounding does not grow with the number of terms, as PreciseSum.
struct Precise {
  double sum = 0;
  double correction = 0;
  __device__ void add(double term) {
    // Rounded one by one: a fused multiply-add would leave the correction of another sum.
    const double next = __dadd_rn(sum, term);
    const bool small = fabs(sum) >= fabs(term);
    const double lost = small ? __dadd_rn(__dsub_rn(sum, next), term) : __dadd_rn(__dsub_rn(term, next), sum);
    correction = __dadd_rn(correction, lost);
    sum = next;
  }
  __device__ double value() const { return isfinite(sum) ? sum + correction : sum; }
};

/// As EntryBounds::conjugates.
template <class L>
__global__ void __launch_bounds__(kThreads)
    conjugates_kernel(const Entry<L> h, const EntryArrays a, Real* slope, bool reports, const Report to) {
  using namespace entry_slopes;
  const double l1 = h.mode == Mode::masked_l1 ? h.lambda_exact : 0;
  const double complement = h.mode == Mode::masked_complement ? h.lambda_exact : 0;
  Precise conjugates;
  double squares = 0;
  double size = 0;
  for_quads(a.count, [&](Offset q) {
    const Quad y = load_data(a, q);
    const Quad w = load_weights(a, q);
    Quad s = slope != nullptr ? load_quad(slope, q) : Quad{};
#pragma unroll
    for (int l = 0; l < kQuad; ++l) {
      const auto datum = double(y.value[l]);
      const auto weight = double(w.value[l]);
      if (datum != datum) {
        if (complement == 0) s.value[l] = inside(s.value[l], {-l1, l1});
        const auto stored = double(s.value[l]);
        squares += stored * stored;
        if (complement > 0) {
          conjugates.add(stored * stored / (4 * complement));
          size += stored * stored / (4 * complement);
        }
        continue;
      }
      const Interval slopes = slopes_of(h.loss, weight, datum);
      s.value[l] = inside(s.value[l], widened(slopes, l1));
      auto share = double(s.value[l]);
      squares += share * share;
      if (!reports) continue;
      if (l1 > 0) share = best_share(share, weight * double(h.loss.subgradient(0.0, datum)), l1, slopes);
      const double term = weight * h.loss.conjugate(share / weight, datum);
      conjugates.add(term);
      size += fabs(term) + fabs(share * datum);
    }
    if (slope != nullptr) store_quad(slope, q, s);
  });
  double sums[kConjugateSums] = {conjugates.value(), squares, size};
  if (reports) report<Add>(sums, to);
}

__device__ double dot(const double* a, const double* b, Index length) {
  double sum = 0;
  for (Index k = 0; k < length; ++k) sum += a[k] * b[k];
  return sum;
}

__device__ double entry_at(const ExactRows& at, Index row, Index col) {
  return dot(at.left + static_cast<Offset>(row) * at.columns, at.right + static_cast<Offset>(col) * at.columns,
             at.columns);
}

/// As EntryBounds::values, at x up to what rounding does to it.
template <class L>
__global__ void __launch_bounds__(kThreads)
    values_kernel(const Entry<L> h, const EntryArrays a, const ExactRows at, const Report to) {
  using entry_slopes::kUnit;
  const double l1 = h.mode == Mode::masked_l1 ? h.lambda_exact : 0;
  const double complement = h.mode == Mode::masked_complement ? h.lambda_exact : 0;
  Precise objective;
  Precise squares;
  double magnitude = 0;
  double infinite = 0;
  for_quads(a.count, [&](Offset q) {
    const QuadPlaces p = places_of(a, q);
    const Quad y = load_data(a, q);
    const Quad w = load_weights(a, q);
    for (int l = 0; l < p.count; ++l) {
      const double x = entry_at(at, p.row[l], p.col[l]);
      const double error = at.left_error[p.row[l]] * at.right_error[p.col[l]];
      const double size = fabs(x) + error;
      double term = l1 * size;
      squares.add(x * x);
      const auto datum = double(y.value[l]);
      if (datum == datum) {
        // A convex function is nowhere in an interval larger than at one of its ends.
        const double reach = error + 4 * kUnit * (fabs(x) + fabs(datum));
        const double below = double(h.loss.value(x - reach, datum));
        const double above = double(h.loss.value(x + reach, datum));
        if (!isfinite(below) || !isfinite(above)) infinite += 1;
        const double more = double(w.value[l]) * fmax(below, above);
        objective.add(more);
        magnitude += fabs(more);
      } else {
        term += complement * size * size;
      }
      objective.add(term);
      magnitude += term;
      if (!isfinite(size)) infinite += 1;
    }
  });
  double sums[kValueSums] = {objective.value(), squares.value(), magnitude, infinite};
  report<Add>(sums, to);
}

__global__ void __launch_bounds__(kThreads) load_kernel(const EntryArrays a, const ExactRows at, Real* to) {
  for_quads(a.count, [&](Offset q) {
    const QuadPlaces p = places_of(a, q);
    Quad x{};
    for (int l = 0; l < p.count; ++l) x.value[l] = Real(entry_at(at, p.row[l], p.col[l]));
    store_quad(to, q, x);
  });
}

__global__ void __launch_bounds__(kThreads)
    dual_kernel(const Real* slope, const Real* x, double twice_lambda, Real* dual, Offset count) {
  for_quads(count, [&](Offset q) {
    const Quad s = load_quad(slope, q);
    const Quad at = load_quad(x, q);
    Quad sum;
#pragma unroll
    for (int l = 0; l < kQuad; ++l) sum.value[l] = Real(double(s.value[l]) + twice_lambda * double(at.value[l]));
    store_quad(dual, q, sum);
  });
}

__global__ void __launch_bounds__(kThreads) rest_kernel(const EntryArrays a, const ExactRows at, double twice_lambda,
                                                        const Real* dual, Real* rest, bool reports, const Report to) {
  Precise squares;
  double rest_squares = 0;
  for_quads(a.count, [&](Offset q) {
    const QuadPlaces p = places_of(a, q);
    const Quad d = load_quad(dual, q);
    Quad less{};
    for (int l = 0; l < p.count; ++l) {
      const double x = entry_at(at, p.row[l], p.col[l]);
      less.value[l] = Real(double(d.value[l]) - twice_lambda * x);
      squares.add(x * x);
      rest_squares += double(less.value[l]) * double(less.value[l]);
    }
    store_quad(rest, q, less);
  });
  double sums[kRestSums] = {squares.value(), rest_squares};
  if (reports) report<Add>(sums, to);
}

__global__ void __launch_bounds__(kThreads)
    lengths_kernel(const double* rows, Offset count, Index columns, double factor, double* error) {
  const Offset r = static_cast<Offset>(blockIdx.x) * kThreads + threadIdx.x;
  if (r < count) error[r] = factor * sqrt(dot(rows + r * columns, rows + r * columns, columns));
}

}  // namespace

void conjugates(const EntryFunction& f, const EntryArrays& a, Real* slope, const Report* to, cudaStream_t stream) {
  visit_loss(f.loss, [&](const auto& loss) {
    conjugates_kernel<<<report_blocks(a.count), kThreads, 0, stream>>>(entry_of(loss, f), a, slope, to != nullptr,
                                                                       to != nullptr ? *to : Report{});
  });
}

void values(const EntryFunction& f, const EntryArrays& a, const ExactRows& at, const Report& to, cudaStream_t stream) {
  visit_loss(f.loss, [&](const auto& loss) {
    values_kernel<<<report_blocks(a.count), kThreads, 0, stream>>>(entry_of(loss, f), a, at, to);
  });
}

void load(const EntryArrays& a, const ExactRows& at, Real* to, cudaStream_t stream) {
  load_kernel<<<quad_blocks(a.count), kThreads, 0, stream>>>(a, at, to);
}

void dual_of(const Real* slope, const Real* x, double twice_lambda, Real* dual, Offset count, cudaStream_t stream) {
  dual_kernel<<<quad_blocks(count), kThreads, 0, stream>>>(slope, x, twice_lambda, dual, count);
}

void dual_rest(const EntryArrays& a, const ExactRows& at, double twice_lambda, const Real* dual, Real* rest,
               const Report* to, cudaStream_t stream) {
  rest_kernel<<<report_blocks(a.count), kThreads, 0, stream>>>(a, at, twice_lambda, dual, rest, to != nullptr,
                                                               to != nullptr ? *to : Report{});
}

void row_lengths(const double* rows, Offset count, Index columns, double factor, double* error, cudaStream_t stream) {
  lengths_kernel<<<blocks_for(count), kThreads, 0, stream>>>(rows, count, columns, factor, error);
}

}  // namespace tracenorm::cuda
