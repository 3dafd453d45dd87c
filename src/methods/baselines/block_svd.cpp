#include "methods/baselines/block_svd.hpp"

#include <utility>

namespace tracenorm::baselines {

Eigen::MatrixXd orthonormalize(Eigen::MatrixXd& columns) {
  lapack::Qr qr(std::move(columns));
  Eigen::MatrixXd r = qr.r();
  columns = std::move(qr).q();
  return r;
}

Eigen::MatrixXd random_block(Index rows, Index cols, Random& random) {
  Eigen::MatrixXd block(rows, cols);
  for (Eigen::Index e = 0; e < block.size(); ++e) block.data()[e] = random.normal();
  return block;
}

}  // namespace tracenorm::baselines
