// The only door to BLAS and LAPACK: products and decompositions of dense matrices, blocked and made for the processor
// at hand, which templates compiled for every processor are not. Whoever calls them shares out the work in shards, so
// BLAS itself runs on one thread and the bits do not depend on the number of threads.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "base/execution.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::lapack {

/// While one of these lives, BLAS runs on one thread; the last one restores what was set before.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
};

enum class Shape : bool { plain, transposed };

/// Row-major: c (m x n) = alpha op(a) op(b) + beta c, with op(a) m x k and op(b) k x n; `lda` and so on are lengths of
/// rows. In Real, and in double for columns instead of rows.
void gemm_rows(Shape a_shape, Shape b_shape, Index m, Index n, Index k, Real alpha, const Real* a, Index lda,
               const Real* b, Index ldb, Real beta, Real* c, Index ldc);
void gemm(Shape a_shape, Shape b_shape, Index m, Index n, Index k, double alpha, const double* a, Index lda,
          const double* b, Index ldb, double beta, double* c, Index ldc);
/// The lower triangle of c <- op(a) op(a)' + beta c, with op(a) side x depth, column-major.
void add_square(Shape a_shape, Index side, Index depth, const double* a, Index lda, double beta, double* c);
/// a b or a b'.
Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, bool transpose_b = false);

/// m = left diag(values) right', thin, values descending.
struct Svd {
  Eigen::MatrixXd left;
  Eigen::VectorXd values;
  Eigen::MatrixXd right;
};
/// Throws Error when m holds values that are not finite.
Svd svd(Eigen::MatrixXd m);

/// Makes left diag(values) right', of any columns, such a decomposition: QR of both sides, SVD of the small core
/// between them. All numbers must be finite.
void decompose_product(Svd& product, const Execution& execution);

/// Tall matrices are decomposed by blocks of rows, each first, then what they have in common.
struct TallBlocks {
  /// The blocks here are rows [cuts[b], cuts[b+1]).
  std::vector<Index> cuts;
  /// Where some of the blocks are elsewhere: how many there are, the first one here that nobody before has too, and who
  /// puts matrices of all places, one above the other, and says how many rows come before the own ones.
  std::size_t all = cuts.size() - 1;
  std::size_t own = 0;
  std::function<Eigen::MatrixXd(const Eigen::MatrixXd& mine, Eigen::Index& before)> stack{};
};
/// Where the rows of a matrix of so many columns are cut, given shards of them.
std::vector<Index> tall_blocks(const std::vector<Index>& shard_cuts, Eigen::Index cols);
/// The same for a left factor in these blocks.
void decompose_product(Svd& product, const TallBlocks& left, const Execution& execution);

/// m = Q R with orthonormal Q, which is kept as the reflectors that make it.
class Qr {
 public:
  explicit Qr(Eigen::MatrixXd m);
  [[nodiscard]] Eigen::Index thin() const { return tau_.size(); }  ///< columns of Q
  [[nodiscard]] Eigen::MatrixXd r() const;
  /// Q times a matrix of `thin()` rows.
  [[nodiscard]] Eigen::MatrixXd times(const Eigen::MatrixXd& m) const;
  /// Q itself, in place of the reflectors.
  [[nodiscard]] Eigen::MatrixXd q() &&;

 private:
  Eigen::MatrixXd reflectors_;  // below the diagonal; R above it
  Eigen::VectorXd tau_;
};

/// Whether a symmetric matrix has a Cholesky factorisation, which takes its place.
bool factor_cholesky(Eigen::MatrixXd& symmetric);
/// The eigenvalues of a symmetric matrix, ascending; its eigenvectors take its place.
Eigen::VectorXd eigenvectors(Eigen::MatrixXd& symmetric);

}  // namespace tracenorm::lapack
