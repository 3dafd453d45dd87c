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

/// An upper bound, never below zero, of the largest eigenvalue of sign * A for any symmetric A, about which an estimate
/// is known; `slack` as above, relative to the estimate. Only the lower triangle and the diagonal of A are looked at,
/// and come back as they were; what is above is room to work in, so that a large matrix is in memory once.
double one_sided_bound(Eigen::MatrixXd& symmetric, double sign, double estimate, double slack);

/// Kuczynski and Wozniakowski (1992), Theorem 4.2: after k Lanczos steps on an n x n positive semidefinite matrix from
/// a start uniform on the sphere, P(largest Ritz value < (1 - e) lambda_1) <= 1.648 sqrt(n) exp(-sqrt(e) (2k - 1)).
/// Returns the e for a given probability; 1 or more means that k is too small to say anything.
/// For a symmetric matrix M with eigenvalues from -s to s at most, M + s I and s I - M are such: with Ritz values from
/// `least` to `largest` of one run, s <= max(largest, -least) / (1 - 2 e) and no eigenvalue of -M is above
/// (-least + e s) / (1 - e), but for twice the probability.
double lanczos_shortfall(double n, int steps, double probability);

}  // namespace tracenorm
