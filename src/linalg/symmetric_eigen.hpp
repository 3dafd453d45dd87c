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

/// Its eigenpairs of these signs by falling magnitude, without those at or below `tolerance` times the largest
/// magnitude of all.
enum class Signs : signed char { negative = -1, any = 0, positive = 1 };
SymmetricEigen leading_eigen(const Eigen::MatrixXd& m, Signs signs, double tolerance);

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& m);

}  // namespace tracenorm
