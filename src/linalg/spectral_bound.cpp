#include "linalg/spectral_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/lapack.hpp"
#include "linalg/symmetric_eigen.hpp"

namespace tracenorm {

namespace {
constexpr double kUnit = std::numeric_limits<double>::epsilon();

/// set(lower, upper) for each two places (i, j) and (j, i), i > j, in blocks that stay in the first cache.
template <class Set>
void for_mirrored(Eigen::MatrixXd& m, Set&& set) {
  constexpr Eigen::Index kBlock = 32;
  for (Eigen::Index left = 0; left < m.cols(); left += kBlock) {
    for (Eigen::Index top = left; top < m.rows(); top += kBlock) {
      for (Eigen::Index j = left; j < std::min(left + kBlock, m.cols()); ++j) {
        for (Eigen::Index i = std::max(top, j + 1); i < std::min(top + kBlock, m.rows()); ++i) set(m(i, j), m(j, i));
      }
    }
  }
}

}  // namespace

double cholesky_bound(const Eigen::MatrixXd& symmetric, double estimate, double slack) {
  if (!symmetric.allFinite() || !std::isfinite(estimate)) return std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(symmetric.rows());
  // No eigenvalue is above the largest sum of absolute values in a row; often that is all there is to prove.
  const double rows = symmetric.cwiseAbs().rowwise().sum().maxCoeff() * (1 + n * kUnit);
  // The floor keeps away from where rounding is no longer relative.
  const double about = std::max({estimate, symmetric.diagonal().maxCoeff(), 1e-280});
  Eigen::MatrixXd work;
  for (; about * (1 + slack) < rows; slack = std::max(100 * slack, kUnit)) {
    const double t = about * (1 + slack);
    work = -symmetric;
    work.diagonal().array() += t;
    const double trace = work.diagonal().sum();
    // A Cholesky factorisation of A that comes to its end is an exact one of A + D with |D_ij| <= g sqrt(a_ii a_jj),
    // g = (n+1) u / (1 - 2 (n+1) u), so |D| <= g trace(A) and no eigenvalue of A is below -g trace(A) (Demmel; Rump,
    // "Verification of positive definiteness", BIT 46, 2006). Here u is half of kUnit, and the rest covers that the
    // diagonal of A was rounded when it was made, and the trace. Four times as much leaves room for who proves it
    // again.
    if (lapack::factor_cholesky(work)) return t + 4 * ((n + 4) * kUnit * trace + 4 * kUnit * t);
  }
  return rows;
}

double largest_eigenvalue_bound(const Eigen::MatrixXd& symmetric) {
  if (!symmetric.allFinite()) return std::numeric_limits<double>::infinity();
  const double largest = symmetric_eigenvalues(symmetric)[symmetric.rows() - 1];
  return cholesky_bound(symmetric, largest, 1e-13 * static_cast<double>(symmetric.rows()));
}

double one_sided_bound(Eigen::MatrixXd& symmetric, double sign, double estimate, double slack) {
  const auto n = static_cast<double>(symmetric.rows());
  Eigen::VectorXd row_sums = symmetric.diagonal().cwiseAbs();
  for (Eigen::Index j = 0; j < symmetric.cols(); ++j) {
    for (Eigen::Index i = j + 1; i < symmetric.rows(); ++i) {
      const double size = std::abs(symmetric(i, j));
      row_sums[i] += size;
      row_sums[j] += size;
    }
  }
  const double rows = row_sums.maxCoeff() * (1 + n * kUnit);
  if (!std::isfinite(rows) || !std::isfinite(estimate)) return std::numeric_limits<double>::infinity();
  // Eigenvalues are rounded relative to the largest of them: what is near zero needs that much room.
  const double about = std::max({estimate, (sign * symmetric.diagonal()).maxCoeff(), 16 * n * kUnit * rows, 1e-280});
  // A waits above the diagonal while the factorisation is below it.
  const Eigen::VectorXd diagonal = symmetric.diagonal();
  for_mirrored(symmetric, [](double& lower, double& upper) { upper = lower; });
  double bound = rows;
  for (; about * (1 + slack) < rows; slack = std::max(100 * slack, kUnit)) {
    const double t = about * (1 + slack);
    for_mirrored(symmetric, [&](double& lower, double& upper) { lower = -sign * upper; });
    symmetric.diagonal() = -sign * diagonal;
    symmetric.diagonal().array() += t;
    const double trace = symmetric.diagonal().sum();
    if (lapack::factor_cholesky(symmetric)) {
      bound = t + 4 * ((n + 4) * kUnit * trace + 4 * kUnit * t);  // as above
      break;
    }
  }
  for_mirrored(symmetric, [](double& lower, double& upper) { lower = upper; });
  symmetric.diagonal() = diagonal;
  return bound;
}

double lanczos_shortfall(double n, int steps, double probability) {
  const double root = std::log(1.648 * std::sqrt(n) / probability) / (2.0 * steps - 1.0);
  return root * root;
}

}  // namespace tracenorm
