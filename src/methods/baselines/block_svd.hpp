// Blocks of vectors: orthonormal bases, and the leading singular triplets of an operator by subspace iteration.
#pragma once

#include <Eigen/Core>
#include <utility>

#include "base/random.hpp"
#include "linalg/lapack.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::baselines {

using Triplets = lapack::Svd;

/// Replaces the columns by an orthonormal basis Q of (at least) their span and returns R: columns = Q R, with Q of
/// min(rows, columns) columns. Householder, so dependent columns do no harm.
Eigen::MatrixXd orthonormalize(Eigen::MatrixXd& columns);

/// Independent standard normals.
Eigen::MatrixXd random_block(Index rows, Index cols, Random& random);

/// The leading singular triplets of an m x n operator A; `t.right` holds the start, n x b with b <= min(m, n). One
/// round is
///     left <- orth(A right);  A' left = right diag(values) rotation';  left <- left rotation,
/// so A' left = right diag(values) holds exactly and the error is A right - left diag(values), which the next round's
/// product gives for nothing. `enough(values, errors)` sees the norms of its columns and ends the iteration. Returns
/// whether it did before `rounds` were over.
template <class Apply, class ApplyTranspose, class Enough>
bool subspace_iteration(Apply&& apply, ApplyTranspose&& apply_transpose, Enough&& enough, int rounds, Triplets& t) {
  Eigen::MatrixXd product;
  Eigen::MatrixXd back;
  Eigen::VectorXd errors(t.right.cols());
  for (int round = 0;; ++round) {
    apply(t.right, product);
    if (round > 0) {
      for (Eigen::Index c = 0; c < errors.size(); ++c)
        errors[c] = (product.col(c) - t.values[c] * t.left.col(c)).norm();
      if (enough(std::as_const(t.values), std::as_const(errors))) return true;
      if (round >= rounds) return false;
    }
    orthonormalize(product);
    apply_transpose(product, back);
    const Eigen::MatrixXd r = orthonormalize(back);  // A ~ product (back r)' = product r' back'
    const lapack::Svd svd = lapack::svd(r.transpose());
    t.left.noalias() = product * svd.left;
    t.values = svd.values;
    t.right.noalias() = back * svd.right;
  }
}

}  // namespace tracenorm::baselines
