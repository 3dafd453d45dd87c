#include "linalg/lapack.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <string>
#include <utility>

#include "linalg/blas.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::lapack {

namespace {

lapack_int to_int(Eigen::Index size) { return static_cast<lapack_int>(size); }

void check(lapack_int info, const char* routine) {
  if (info != 0) throw Error(ErrorCode::numerical, std::string("LAPACK ") + routine + " failed");
}

}  // namespace

Svd svd(Eigen::MatrixXd m) {
  blas::use_one_thread();
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
  blas::use_one_thread();
  const lapack_int rows = to_int(reflectors_.rows());
  check(LAPACKE_dgeqrf(LAPACK_COL_MAJOR, rows, to_int(reflectors_.cols()), reflectors_.data(), rows, tau_.data()),
        "dgeqrf");
}

Eigen::MatrixXd Qr::r() const { return reflectors_.topRows(thin()).triangularView<Eigen::Upper>(); }

Eigen::MatrixXd Qr::times(const Eigen::MatrixXd& m) const {
  blas::use_one_thread();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(reflectors_.rows(), m.cols());
  out.topRows(thin()) = m;
  const lapack_int rows = to_int(reflectors_.rows());
  check(LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'N', rows, to_int(m.cols()), to_int(thin()), reflectors_.data(), rows,
                       tau_.data(), out.data(), rows),
        "dormqr");
  return out;
}

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, bool transpose_b) {
  blas::use_one_thread();
  Eigen::MatrixXd out(a.rows(), transpose_b ? b.rows() : b.cols());
  if (a.cols() == 0) return Eigen::MatrixXd::Zero(out.rows(), out.cols());
  if (out.size() == 0) return out;
  cblas_dgemm(CblasColMajor, CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans, to_int(out.rows()),
              to_int(out.cols()), to_int(a.cols()), 1.0, a.data(), to_int(a.rows()), b.data(), to_int(b.rows()), 0.0,
              out.data(), to_int(out.rows()));
  return out;
}

}  // namespace tracenorm::lapack
