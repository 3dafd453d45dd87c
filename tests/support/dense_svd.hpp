// Eigen's decomposition of a dense matrix: what our own results are compared with. In a file of its own, because it
// takes many seconds to compile.
#pragma once

#include <Eigen/Core>

namespace tracenorm::test {

/// dense = u * diag(values) * v', values descending, as many as the shorter side.
struct DenseSvd {
  Eigen::MatrixXd u;
  Eigen::VectorXd values;
  Eigen::MatrixXd v;
};
DenseSvd dense_svd(const Eigen::MatrixXd& dense);

Eigen::VectorXd singular_values(const Eigen::MatrixXd& dense);

}  // namespace tracenorm::test
