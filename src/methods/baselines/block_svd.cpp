#include "methods/baselines/block_svd.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>

namespace tracenorm::baselines {

Eigen::MatrixXd orthonormalize(Eigen::MatrixXd& columns) {
  openblas_set_num_threads(1);  // the bits must not depend on the number of threads
  const auto rows = static_cast<lapack_int>(columns.rows());
  const auto count = static_cast<lapack_int>(columns.cols());
  const lapack_int thin = std::min(rows, count);
  Eigen::VectorXd tau(thin);
  LAPACKE_dgeqrf(LAPACK_COL_MAJOR, rows, count, columns.data(), rows, tau.data());
  Eigen::MatrixXd r = columns.topRows(thin).triangularView<Eigen::Upper>();
  if (thin < count) columns.conservativeResize(Eigen::NoChange, thin);
  LAPACKE_dorgqr(LAPACK_COL_MAJOR, rows, thin, thin, columns.data(), rows, tau.data());
  return r;
}

Eigen::MatrixXd random_block(Index rows, Index cols, Random& random) {
  Eigen::MatrixXd block(rows, cols);
  for (Eigen::Index e = 0; e < block.size(); ++e) block.data()[e] = random.normal();
  return block;
}

}  // namespace tracenorm::baselines
