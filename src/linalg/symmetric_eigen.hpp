// Eigenvalues and eigenvectors of small symmetric matrices, by Eigen: its template takes ten seconds to compile, here
// once.
#pragma once

#include <Eigen/Core>

namespace tracenorm {

/// m = vectors diag(values) vectors', values ascending.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& m);

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& m);

}  // namespace tracenorm
