#include "support/dense_svd.hpp"

#include <Eigen/SVD>

namespace tracenorm::test {

DenseSvd dense_svd(const Eigen::MatrixXd& dense) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(dense, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

Eigen::VectorXd singular_values(const Eigen::MatrixXd& dense) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(dense).singularValues();
}

}  // namespace tracenorm::test
