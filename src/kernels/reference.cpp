// The specification of the kernels: one plain loop each.
#include "kernels/kernels.hpp"
#include "kernels/tables.hpp"

namespace tracenorm::kernels::reference {
namespace {

#include "kernels/entrywise.inc"

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

template <class Column>
void sparse_normal_block(const RowsOf<Column>& m, const Real* v, const RowTerms<Real>& rows, Real* out) {
  for (Index i = m.first; i < m.last; ++i) {
    for (Index k = 0; k < kBlockColumns; ++k) {
      const Real factor = rows.factor ? rows.factor[i] : Real(1);
      Real sum = 0;
      for (Offset e = m.begin[i]; e < m.begin[i + 1]; ++e) sum += m.value[e] * v[m.col[e] * kBlockColumns + k];
      sum = factor * sum + (rows.shift ? rows.shift[i * kBlockColumns + k] : Real(0));
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

}  // namespace

TRACENORM_DEFINE_LINEAR
TRACENORM_FOR_EACH_LOSS(TRACENORM_DEFINE_LOSS)

}  // namespace tracenorm::kernels::reference
