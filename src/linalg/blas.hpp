// The few products of dense matrices in Real that are worth a tuned library. Row-major, one thread: whoever calls them
// shares out the work in shards, so that the bits do not depend on the number of threads.
#pragma once

#include <cblas.h>

#include "tracenorm/types.hpp"

namespace tracenorm::blas {

enum class Shape : bool { plain, transposed };

/// c (m x n) = alpha op(a) op(b) + beta c, with op(a) m x k and op(b) k x n; `lda` and so on are lengths of rows.
inline void gemm(Shape a_shape, Shape b_shape, int m, int n, int k, Real alpha, const Real* a, int lda, const Real* b,
                 int ldb, Real beta, Real* c, int ldc) {
  const auto order = [](Shape shape) { return shape == Shape::plain ? CblasNoTrans : CblasTrans; };
#ifdef TRACENORM_DOUBLE
  cblas_dgemm(CblasRowMajor, order(a_shape), order(b_shape), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#else
  cblas_sgemm(CblasRowMajor, order(a_shape), order(b_shape), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#endif
}

/// y = op(a) x + beta y, with a m x n.
inline void gemv(Shape a_shape, int m, int n, const Real* a, int lda, const Real* x, Real beta, Real* y) {
  const auto order = a_shape == Shape::plain ? CblasNoTrans : CblasTrans;
#ifdef TRACENORM_DOUBLE
  cblas_dgemv(CblasRowMajor, order, m, n, 1, a, lda, x, 1, beta, y, 1);
#else
  cblas_sgemv(CblasRowMajor, order, m, n, 1, a, lda, x, 1, beta, y, 1);
#endif
}

/// To be called once before parallel work.
inline void use_one_thread() { openblas_set_num_threads(1); }

}  // namespace tracenorm::blas
