// Upper bounds of the largest eigenvalue of a positive semidefinite matrix: what turns an estimate of sigma_1 into a
// proof.
#pragma once

#include <Eigen/Core>

namespace tracenorm {

/// From a full eigendecomposition, with a margin for its rounding.
double largest_eigenvalue_bound(const Eigen::MatrixXd& symmetric);

/// The smallest of a few values t >= estimate for which t I - A has a Cholesky factorisation, which proves that no
/// eigenvalue of A exceeds t; a margin for rounding is included. Infinity when none of them does.
double cholesky_bound(const Eigen::MatrixXd& symmetric, double estimate);

/// Kuczynski and Wozniakowski (1992), Theorem 4.2: after k Lanczos steps on an n x n positive semidefinite matrix from
/// a start uniform on the sphere, P(largest Ritz value < (1 - e) lambda_1) <= 1.648 sqrt(n) exp(-sqrt(e) (2k - 1)).
/// Returns the e for a given probability; 1 or more means that k is too small to say anything.
double lanczos_shortfall(double n, int steps, double probability);

}  // namespace tracenorm
