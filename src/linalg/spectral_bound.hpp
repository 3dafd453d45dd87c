// Upper bounds of the largest eigenvalue of a positive semidefinite matrix: what turns an estimate of sigma_1 into a
// proof.
#pragma once

#include <Eigen/Core>

namespace tracenorm {

/// The first of estimate * (1 + slack), estimate * (1 + 100 slack), ... for which t I - A has a Cholesky factorisation,
/// which proves that no eigenvalue of A exceeds t, with the margin that rounding asks for. Infinity where numbers are
/// not finite.
double cholesky_bound(const Eigen::MatrixXd& symmetric, double estimate, double slack);

/// The same with the estimate of an eigenvalue solver: as tight as rounding lets it be.
double largest_eigenvalue_bound(const Eigen::MatrixXd& symmetric);

/// Kuczynski and Wozniakowski (1992), Theorem 4.2: after k Lanczos steps on an n x n positive semidefinite matrix from
/// a start uniform on the sphere, P(largest Ritz value < (1 - e) lambda_1) <= 1.648 sqrt(n) exp(-sqrt(e) (2k - 1)).
/// Returns the e for a given probability; 1 or more means that k is too small to say anything.
double lanczos_shortfall(double n, int steps, double probability);

}  // namespace tracenorm
