#include "linalg/spectral_bound.hpp"

#include <cmath>
#include <limits>

#include "linalg/lapack.hpp"
#include "linalg/symmetric_eigen.hpp"

namespace tracenorm {

namespace {
constexpr double kUnit = std::numeric_limits<double>::epsilon();
}

double largest_eigenvalue_bound(const Eigen::MatrixXd& symmetric) {
  const double largest = std::max(0.0, symmetric_eigenvalues(symmetric)[symmetric.rows() - 1]);
  return largest * (1 + 10 * static_cast<double>(symmetric.rows()) * kUnit);
}

double cholesky_bound(const Eigen::MatrixXd& symmetric, double estimate) {
  const auto n = static_cast<double>(symmetric.rows());
  const double margin = 1 + 4 * (n + 1) * kUnit;  // backward error of a Cholesky that succeeded
  Eigen::MatrixXd work;
  for (const double slack : {1e-7, 1e-5, 1e-3, 1e-1}) {
    const double t = estimate * (1 + slack);
    work = -symmetric;
    work.diagonal().array() += t;
    if (lapack::factor_cholesky(work)) return t * margin;
  }
  return std::numeric_limits<double>::infinity();
}

double lanczos_shortfall(double n, int steps, double probability) {
  const double root = std::log(1.648 * std::sqrt(n) / probability) / (2.0 * steps - 1.0);
  return root * root;
}

}  // namespace tracenorm
