// The specification of the kernels: one plain loop each. It shares nothing with those that are shipped but the losses'
// own functions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"
#include "kernels/tables.hpp"

namespace tracenorm::kernels::reference {
namespace {

/// The function h of one entry, w * loss where there is a datum plus the penalty, by its definition and in double.
template <class L>
struct EntryFunction {
  const L& loss;
  Mode mode;
  double lambda;
  double y;  // NaN: missing
  double w;

  [[nodiscard]] bool observed() const { return !std::isnan(y); }

  [[nodiscard]] double value(double x) const {
    const double of_loss = observed() ? w * loss.value(x, y) : 0.0;
    if (mode == Mode::masked_l1) return of_loss + lambda * std::abs(x);
    if (mode == Mode::masked_complement && !observed()) return lambda * x * x;
    return of_loss;
  }
  /// The chord slope, of the loss at one place and of the penalty at another.
  [[nodiscard]] double slope(double loss_x, double penalty_x, double width) const {
    const double of_loss = observed() ? w * loss.chord(loss_x, width, y) : 0.0;
    if (mode == Mode::masked_l1) {
      const double sign = double(penalty_x > 0) - double(penalty_x < 0);
      return of_loss + lambda * (width > 0 ? std::clamp(penalty_x / width, -1.0, 1.0) : sign);
    }
    if (mode == Mode::masked_complement && !observed()) return 2 * lambda * penalty_x;
    return of_loss;
  }
  /// h*(s). That of loss + lambda |x| is the least conjugate of the loss within lambda of s, and a convex function is
  /// least where it is nearest to its minimum: for the conjugate that is the loss's slope at zero.
  [[nodiscard]] double conjugate(double s) const {
    if (!observed()) return mode == Mode::masked_complement ? s * s / (4 * lambda) : 0.0;
    if (mode == Mode::masked_l1) s = std::clamp(w * loss.subgradient(0.0, y), s - lambda, s + lambda);
    return w * loss.conjugate(s / w, y);
  }
};

template <Mode mode, bool weighted, class L>
EntryFunction<L> entry(const L& loss, const EntryRange& r, Offset i) {
  return {loss, mode, r.lambda, double(r.y[i]), weighted ? double(r.w[i]) : 1.0};
}

enum class Conjugates : bool { left_out, summed };

/// What one entry adds to the sums of a linearization; writes its slope.
template <class L>
EntrySums linearize_entry(const EntryFunction<L>& h, const EntryRange& r, Offset i, double width, Conjugates with) {
  const double x = double(r.x[i]);
  // What is proved is proved of the slope as it is kept.
  const double slope = double(Real(h.slope(double(r.at_loss()[i]), double(r.at_penalty()[i]), width)));
  const bool off_pattern = h.mode == Mode::observed_complement;
  r.slope[i] = Real(off_pattern ? slope - 2 * h.lambda * x : slope);
  return {.objective = h.value(x),
          .inner = slope * x,
          .conjugate = with == Conjugates::summed ? h.conjugate(slope) : 0.0,
          .square_x = off_pattern ? x * x : 0.0,
          .square_slope = double(r.slope[i]) * double(r.slope[i])};
}

template <class L, Mode mode, bool weighted, Conjugates with>
EntrySums linearize(const L& loss, const EntryRange& r, double width) {
  EntrySums sums;
  for (Offset i = 0; i < r.count; ++i) {
    sums += linearize_entry(entry<mode, weighted>(loss, r, i), r, i, width, with);
  }
  return sums;
}

template <class L, Mode mode>
EntrySums linearize_coded(const L& loss, const EntryRange& r, double width) {
  EntrySums sums;
  for (Offset i = 0; i < r.count; ++i) {
    const bool missing = r.coded.code[i] == CodedData::kMissing;
    const double y = missing ? std::numeric_limits<double>::quiet_NaN()
                             : double(r.coded.offset) + double(r.coded.scale) * double(r.coded.code[i]);
    sums += linearize_entry(EntryFunction<L>{loss, mode, r.lambda, y, 1.0}, r, i, width, Conjugates::left_out);
  }
  return sums;
}

template <class L, Mode mode, bool weighted>
double objective(const L& loss, const EntryRange& r) {
  double sum = 0;
  for (Offset i = 0; i < r.count; ++i) sum += entry<mode, weighted>(loss, r, i).value(double(r.x[i]));
  return sum;
}

template <Mode mode>
void add_squares(double x, double way, int p, SegmentSums& sums) {
  if (mode != Mode::observed_complement) return;
  sums.square[p] += x * x;
  sums.square_derivative[p] += 2 * x * way;
}

template <class L, Mode mode, bool weighted>
void segment(const L& loss, const EntryRange& r, const Real* target, const double* t, SegmentSums& sums) {
  for (int p = 0; p < kSegmentPoints; ++p) {
    for (Offset i = 0; i < r.count; ++i) {
      const EntryFunction<L> h = entry<mode, weighted>(loss, r, i);
      const double way = double(target[i]) - double(r.x[i]);
      const double x = double(r.x[i]) + t[p] * way;
      sums.value[p] += h.value(x);
      sums.derivative[p] += way * h.slope(x, x, 0);
      add_squares<mode>(x, way, p, sums);
    }
  }
}

template <class L, Mode mode, bool weighted>
void smoothed_segment(const L& loss, const EntryRange& r, const Real* target, const double* t, double width,
                      SegmentSums& sums) {
  for (int p = 0; p < kSegmentPoints; ++p) {
    for (Offset i = 0; i < r.count; ++i) {
      const EntryFunction<L> h = entry<mode, weighted>(loss, r, i);
      const double way = double(target[i]) - double(r.x[i]);
      const double step = t[p] * way;
      sums.derivative[p] += way * h.slope(double(r.at_loss()[i]) + step, double(r.at_penalty()[i]) + step, width);
      add_squares<mode>(double(r.x[i]) + step, way, p, sums);
    }
  }
}

template <class L, Mode mode, bool weighted>
constexpr LossKernels<L> loss_table() {
  constexpr bool coded = !weighted && mode != Mode::observed && mode != Mode::observed_complement;
  LossKernels<L> table{linearize<L, mode, weighted, Conjugates::left_out>,
                       linearize<L, mode, weighted, Conjugates::summed>,
                       nullptr,
                       objective<L, mode, weighted>,
                       segment<L, mode, weighted>,
                       smoothed_segment<L, mode, weighted>};
  if constexpr (coded) table.linearize_coded = linearize_coded<L, mode>;
  return table;
}

template <class Column>
void sparse_apply(const RowsOf<Column>& m, const double* v, double* product) {
  for (Index i = m.first; i < m.last; ++i) {
    double sum = 0;
    for (Offset e = m.begin[i]; e < m.begin[i + 1]; ++e) sum += double(m.value[e]) * v[m.col[e]];
    product[i] = sum;
  }
}

template <class Column>
void sparse_apply_transpose(const RowsOf<Column>& m, const double* u, double* out) {
  for (Index i = m.first; i < m.last; ++i) {
    for (Offset e = m.begin[i]; e < m.begin[i + 1]; ++e) out[m.col[e]] += double(m.value[e]) * u[i];
  }
}

template <class Column, class Work>
void sparse_normal(const RowsOf<Column>& m, const Work* v, const RowTerms<Work>& rows, Work* out) {
  for (Index i = m.first; i < m.last; ++i) {
    Work sum = 0;
    for (Offset e = m.begin[i]; e < m.begin[i + 1]; ++e) sum += Work(m.value[e]) * v[m.col[e]];
    sum = rows.take(i, sum);
    for (Offset e = m.begin[i]; e < m.begin[i + 1]; ++e) out[m.col[e]] += Work(m.value[e]) * sum;
  }
}

template <class Column, class Work>
void sparse_apply_both(const RowsOf<Column>& m, const Work* u, const Work* v, Work* sums, Work* out) {
  for (Index i = m.first; i < m.last; ++i) {
    for (Offset e = m.begin[i]; e < m.begin[i + 1]; ++e) {
      sums[i] += Work(m.value[e]) * v[m.col[e]];
      out[m.col[e]] += Work(m.value[e]) * u[i];
    }
  }
}

template <class Column>
void sparse_normal_block(const RowsOf<Column>& m, const Real* v, const RowTerms<Real>& rows, Real* out) {
  for (Index i = m.first; i < m.last; ++i) {
    for (Index k = 0; k < kBlockColumns; ++k) {
      const Real factor = rows.factor ? rows.factor[i] : Real(1);
      Real sum = 0;
      for (Offset e = m.begin[i]; e < m.begin[i + 1]; ++e) sum += m.value[e] * v[m.col[e] * kBlockColumns + k];
      sum = factor * sum + (rows.addend ? rows.addend[i * kBlockColumns + k] : Real(0));
      if (rows.product) rows.product[i * kBlockColumns + k] = sum;
      for (Offset e = m.begin[i]; e < m.begin[i + 1]; ++e) {
        out[m.col[e] * kBlockColumns + k] += m.value[e] * factor * sum;
      }
    }
  }
}

template <class Column>
void sparse_apply_block(const RowsOf<Column>& m, const double* block, Index width, double* out) {
  for (Index i = m.first; i < m.last; ++i) {
    double* row = out + Offset(i) * width;
    for (Index t = 0; t < width; ++t) row[t] = 0;
    for (Offset e = m.begin[i]; e < m.begin[i + 1]; ++e) {
      for (Index t = 0; t < width; ++t) row[t] += double(m.value[e]) * block[Offset(m.col[e]) * width + t];
    }
  }
}

template <class Column>
double sparse_move(const RowsOf<Column>& pattern, Real* x, const double* u, const Real* v, double t) {
  double largest = 0;
  for (Index i = pattern.first; i < pattern.last; ++i) {
    for (Offset e = pattern.begin[i]; e < pattern.begin[i + 1]; ++e) {
      const double change = u[i] * double(v[pattern.col[e]]) - double(x[e]);
      largest = std::max(largest, std::abs(change));
      x[e] = Real(double(x[e]) + t * change);
    }
  }
  return largest;
}

void dense_apply(const DenseRows& m, const double* v, double* product) {
  for (Index i = m.first; i < m.last; ++i) {
    const Real* row = m.value + Offset(i) * m.cols;
    double sum = 0;
    for (Index j = 0; j < m.cols; ++j) sum += double(row[j]) * v[j];
    product[i] = sum;
  }
}

void dense_apply_transpose(const DenseRows& m, const double* u, double* out) {
  for (Index i = m.first; i < m.last; ++i) {
    const Real* row = m.value + Offset(i) * m.cols;
    for (Index j = 0; j < m.cols; ++j) out[j] += double(row[j]) * u[i];
  }
}

template <class Work>
void any_dense_normal(const DenseRows& m, const Work* v, const RowTerms<Work>& rows, Work* out) {
  for (Index i = m.first; i < m.last; ++i) {
    const Real* row = m.value + Offset(i) * m.cols;
    Work sum = 0;
    for (Index j = 0; j < m.cols; ++j) sum += Work(row[j]) * v[j];
    sum = rows.take(i, sum);
    for (Index j = 0; j < m.cols; ++j) out[j] += Work(row[j]) * sum;
  }
}
constexpr auto dense_normal = any_dense_normal<double>;
constexpr auto dense_normal_fast = any_dense_normal<Real>;

template <class Work>
void any_dense_apply_both(const DenseRows& m, const Work* u, const Work* v, Work* sums, Work* out) {
  for (Index i = m.first; i < m.last; ++i) {
    for (Index j = 0; j < m.cols; ++j) {
      const Work value = Work(m.value[Offset(i) * m.cols + j]);
      sums[i] += value * v[j];
      if (out) out[j] += value * u[i];
    }
  }
}
constexpr auto dense_apply_both = any_dense_apply_both<double>;
constexpr auto dense_apply_both_fast = any_dense_apply_both<Real>;

void dense_apply_block(const DenseRows& m, const double* block, Index width, double* out) {
  for (Index i = m.first; i < m.last; ++i) {
    double* row = out + Offset(i) * width;
    for (Index t = 0; t < width; ++t) row[t] = 0;
    for (Index j = 0; j < m.cols; ++j) {
      for (Index t = 0; t < width; ++t)
        row[t] += double(m.value[Offset(i) * m.cols + j]) * block[Offset(j) * width + t];
    }
  }
}

double dense_move(const DenseRows& x_rows, Real* x, const Real* mask, const double* u, const Real* v, double t) {
  double largest = 0;
  for (Index i = x_rows.first; i < x_rows.last; ++i) {
    for (Index j = 0; j < x_rows.cols; ++j) {
      const Offset e = Offset(i) * x_rows.cols + j;
      const double change = u[i] * double(v[j]) - double(x[e]);
      if (!mask || mask[e] == mask[e]) largest = std::max(largest, std::abs(change));
      x[e] = Real(double(x[e]) + t * change);
    }
  }
  return largest;
}

template <class Column>
void factor_dots(const Column* col, Offset count, const Real* u, const Real* right, Index width, Real* x) {
  for (Offset e = 0; e < count; ++e) {
    const Real* v = right + Offset(col[e]) * width;
    Real sum = 0;
    for (Index k = 0; k < width; ++k) sum += u[k] * v[k];
    x[e] = sum;
  }
}

template <class Column>
void factor_products(const Column* col, const Real* slope, Offset count, const Real* u, const Real* right, Index width,
                     Real* left, Real* out) {
  for (Offset e = 0; e < count; ++e) {
    const Offset row = Offset(col[e]) * width;
    for (Index k = 0; k < width; ++k) {
      left[k] += slope[e] * right[row + k];
      out[row + k] += slope[e] * u[k];
    }
  }
}

void blend(Real* average, const Real* m, Offset count, double t) {
  for (Offset i = 0; i < count; ++i) average[i] = Real(double(average[i]) + t * (double(m[i]) - double(average[i])));
}

void decode(const CodedData& data, Offset count, Real* y) {
  for (Offset e = 0; e < count; ++e) y[e] = data.at(e);
}

}  // namespace

TRACENORM_DEFINE_LINEAR
TRACENORM_FOR_EACH_LOSS(TRACENORM_DEFINE_LOSS)

}  // namespace tracenorm::kernels::reference
