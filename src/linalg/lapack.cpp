#include "linalg/lapack.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "tracenorm/error.hpp"

namespace tracenorm::lapack {

namespace {

std::mutex threads_mutex;
int users = 0;
int threads_before = 1;

lapack_int to_int(Eigen::Index size) { return static_cast<lapack_int>(size); }

CBLAS_TRANSPOSE order(Shape shape) { return shape == Shape::plain ? CblasNoTrans : CblasTrans; }

void check(lapack_int info, const char* routine) {
  if (info != 0) throw Error(ErrorCode::numerical, std::string("LAPACK ") + routine + " failed");
}

}  // namespace

OneThread::OneThread() {
  const std::lock_guard lock(threads_mutex);
  if (users++ > 0) return;
  threads_before = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

OneThread::~OneThread() {
  const std::lock_guard lock(threads_mutex);
  if (--users == 0) openblas_set_num_threads(threads_before);
}

void gemm_rows(Shape a_shape, Shape b_shape, Index m, Index n, Index k, Real alpha, const Real* a, Index lda,
               const Real* b, Index ldb, Real beta, Real* c, Index ldc) {
#ifdef TRACENORM_DOUBLE
  cblas_dgemm(CblasRowMajor, order(a_shape), order(b_shape), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#else
  cblas_sgemm(CblasRowMajor, order(a_shape), order(b_shape), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#endif
}

void gemm(Shape a_shape, Shape b_shape, Index m, Index n, Index k, double alpha, const double* a, Index lda,
          const double* b, Index ldb, double beta, double* c, Index ldc) {
  cblas_dgemm(CblasColMajor, order(a_shape), order(b_shape), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void add_square(Shape a_shape, Index side, Index depth, const double* a, Index lda, double beta, double* c) {
  cblas_dsyrk(CblasColMajor, CblasLower, order(a_shape), side, depth, 1.0, a, lda, beta, c, side);
}

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, bool transpose_b) {
  Eigen::MatrixXd out(a.rows(), transpose_b ? b.rows() : b.cols());
  if (a.cols() == 0) return Eigen::MatrixXd::Zero(out.rows(), out.cols());
  if (out.size() == 0) return out;
  gemm(Shape::plain, transpose_b ? Shape::transposed : Shape::plain, to_int(out.rows()), to_int(out.cols()),
       to_int(a.cols()), 1.0, a.data(), to_int(a.rows()), b.data(), to_int(b.rows()), 0.0, out.data(),
       to_int(out.rows()));
  return out;
}

Svd svd(Eigen::MatrixXd m) {
  const lapack_int rows = to_int(m.rows());
  const lapack_int cols = to_int(m.cols());
  const lapack_int side = std::min(rows, cols);
  Svd result{Eigen::MatrixXd(rows, side), Eigen::VectorXd(side), {}};
  Eigen::MatrixXd right_transposed(side, cols);
  check(LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', rows, cols, m.data(), rows, result.values.data(), result.left.data(),
                       rows, right_transposed.data(), side),
        "dgesdd");
  result.right = right_transposed.transpose();
  return result;
}

Qr::Qr(Eigen::MatrixXd m) : reflectors_(std::move(m)), tau_(std::min(reflectors_.rows(), reflectors_.cols())) {
  const lapack_int rows = to_int(reflectors_.rows());
  check(LAPACKE_dgeqrf(LAPACK_COL_MAJOR, rows, to_int(reflectors_.cols()), reflectors_.data(), rows, tau_.data()),
        "dgeqrf");
}

Eigen::MatrixXd Qr::r() const { return reflectors_.topRows(thin()).triangularView<Eigen::Upper>(); }

Eigen::MatrixXd Qr::times(const Eigen::MatrixXd& m) const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(reflectors_.rows(), m.cols());
  out.topRows(thin()) = m;
  const lapack_int rows = to_int(reflectors_.rows());
  check(LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'N', rows, to_int(m.cols()), to_int(thin()), reflectors_.data(), rows,
                       tau_.data(), out.data(), rows),
        "dormqr");
  return out;
}

Eigen::MatrixXd Qr::q() && {
  if (thin() < reflectors_.cols()) reflectors_.conservativeResize(Eigen::NoChange, thin());
  const lapack_int rows = to_int(reflectors_.rows());
  check(LAPACKE_dorgqr(LAPACK_COL_MAJOR, rows, to_int(thin()), to_int(thin()), reflectors_.data(), rows, tau_.data()),
        "dorgqr");
  return std::move(reflectors_);
}

void decompose_product(Svd& product, const Execution& execution) {
  // X = (Q1 R1) diag(s) (Q2 R2)'; the SVD of the small core R1 diag(s) R2' rotates both bases.
  std::array<std::optional<Qr>, 2> qr;
  execution.for_each_shard(2, [&](int side) {
    qr[static_cast<std::size_t>(side)].emplace(std::move(side == 0 ? product.left : product.right));
  });
  const Svd core = svd(lapack::product(qr[0]->r() * product.values.asDiagonal(), qr[1]->r(), true));
  product.values = core.values;
  execution.for_each_shard(2, [&](int side) {
    if (side == 0) product.left = qr[0]->times(core.left);
    if (side == 1) product.right = qr[1]->times(core.right);
  });
}

bool factor_cholesky(Eigen::MatrixXd& symmetric) {
  const lapack_int n = to_int(symmetric.rows());
  return LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, symmetric.data(), n) == 0;
}

Eigen::VectorXd eigenvectors(Eigen::MatrixXd& symmetric) {
  const lapack_int n = to_int(symmetric.rows());
  Eigen::VectorXd values(n);
  check(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', n, symmetric.data(), n, values.data()), "dsyevd");
  return values;
}

}  // namespace tracenorm::lapack
