// Singular value thresholding of a full matrix: SVT(A, t) = U max(S - t, 0) V', the proximal operator of t times the
// trace norm.
#pragma once

#include <Eigen/Core>

#include "base/exchange.hpp"
#include "base/execution.hpp"
#include "methods/baselines/block_svd.hpp"
#include "tracenorm/low_rank_matrix.hpp"

namespace tracenorm::baselines {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The Gram matrix A A' or A' A, whichever is smaller.
Eigen::MatrixXd small_gram(const RowMatrix& a);

/// Calls are expected to be of slowly changing matrices: the last answer is the start of the next.
class SingularThreshold {
 public:
  SingularThreshold(Index rows, Index cols, std::uint64_t seed, const Execution& execution);

  /// Within `accuracy` of SVT(a, threshold) in the Frobenius norm. A thin SVD. When the rank allows, by subspace
  /// iteration on a block that is enlarged until its last value is below the threshold; else from a full decomposition.
  LowRankMatrix operator()(const RowMatrix& a, double threshold, double accuracy);

  /// A block can overlook a direction that it is orthogonal to. Whether the last answer, for the same arguments,
  /// provably did not: Cholesky of threshold^2 I minus the Gram matrix of what the answer leaves of A. If not, the next
  /// call is a full one.
  bool confirm(const RowMatrix& a, double threshold);

  void exchange(Exchange state);

  /// Multiplications so far, about.
  [[nodiscard]] double work() const { return work_; }

 private:
  bool partial(const RowMatrix& a, double threshold, double accuracy);
  void full(const RowMatrix& a, double threshold);
  void enlarge(Index columns);

  const Execution& execution_;
  Index rows_;
  Index cols_;
  Random random_;
  Triplets t_;           // of the last call; after a partial one its whole block
  Index kept_ = 0;       // values above the threshold
  bool proved_ = false;  // by a full decomposition
  int full_calls_ = 0;   // still to be made before a block is tried again
  double work_ = 0;
};

}  // namespace tracenorm::baselines
