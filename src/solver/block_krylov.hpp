// The leading eigenvectors of a positive semidefinite operator A (or one end of the spectrum of a symmetric one) on
// right panels, from a block of start vectors, in as
// few applications as possible: a block costs little more to multiply than a vector where an entry is looked up in
// memory, and what the last call found is nearly what this one will find. In search panels it finds a few digits, in
// exact ones as many as are wanted.
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <vector>

#include "base/function_ref.hpp"
#include "seam/panels.hpp"

namespace tracenorm {

/// How many columns blocks may have, and how many vectors a basis holds before a restart from the best Ritz vectors.
/// The small problems live on the stack.
inline constexpr int kMostColumns = 4;
inline constexpr int kMostRitz = 32;
using BlockMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostColumns, kMostColumns>;
using RitzMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostRitz, kMostRitz>;
using RitzVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostRitz, 1>;

/// Makes the columns orthonormal; those that depend on others become zero. False when all are. A column that is not
/// finite stays so.
bool orthonormalize(Panels& panels, const Panel& block);

struct KrylovResult {
  double eigenvalue = 0;  ///< the largest Ritz value: a lower bound of the largest eigenvalue, up to rounding
  int blocks = 0;         ///< the Ritz vector is a combination of the columns of this many blocks
  RitzVector weights;     ///< with these weights
  int applications = 0;
};

/// Which eigenvalue leads: the largest of a positive semidefinite operator, or of a symmetric one, with blocks of one
/// vector, the least or the one of largest magnitude.
enum class SpectrumEnd { largest, least, magnitude };

class BlockKrylov {
 public:
  /// A basis of at most this many blocks of `columns` vectors.
  BlockKrylov(Panels& panels, Use use, Index columns, int blocks, SpectrumEnd end = SpectrumEnd::largest);

  /// apply(j, Q, out) makes out = A Q for the j-th block of the basis; out is always `rest()`. `start` must have
  /// orthonormal columns; it becomes the best Ritz vectors, ready for the next call. Stops when the residual of the
  /// leading one is below relative * eigenvalue, or after `most` applications.
  KrylovResult leading(FunctionRef<void(int, const Panel&, const Panel&)> apply, const Panel& start, double relative,
                       int most);

  [[nodiscard]] int most_blocks() const { return static_cast<int>(basis_.size()); }
  [[nodiscard]] PanelList basis(int blocks) const { return {basis_.data(), static_cast<std::size_t>(blocks)}; }
  [[nodiscard]] const Panel& rest() const { return rest_; }
  /// The eigenvalues of A as the last search saw them.
  [[nodiscard]] RitzVector ritz_values() const { return ritz_.eigenvalues(); }

 private:
  /// The new block's rows and columns of Q' A Q. Where there will be another block, the rest less its part in the span
  /// of the basis, and the inner products of what is left.
  void project(int j, BlockMatrix* rest_gram);
  /// Makes the rest, whose inner products are `gram`, the next block of the basis. False when there is nothing left but
  /// rounding.
  bool extend(int j, const BlockMatrix& gram, double eigenvalue);
  /// Which Ritz value leads, and the size of the operator as far as they show it.
  [[nodiscard]] Eigen::Index leading_index() const;
  [[nodiscard]] double scale() const;
  /// The best Ritz vectors, descending.
  void best(const Panel& out);

  Panels& panels_;
  Index columns_;
  SpectrumEnd end_;
  double epsilon_;  // of the numbers in the panels
  std::vector<Panel> basis_;
  Panel rest_;
  double drift_ = 0;  // how far the basis may be from orthogonal
  RitzMatrix projected_;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostRitz, kMostColumns> column_;
  Eigen::SelfAdjointEigenSolver<RitzMatrix> ritz_;
};

/// The leading eigenvector of a positive semidefinite matrix on the host, from a start `v` that becomes it; returns the
/// Ritz value.
double leading_eigenvector(FunctionRef<void(const Eigen::VectorXd&, Eigen::VectorXd&)> apply, Eigen::VectorXd& v,
                           double relative, int most);

}  // namespace tracenorm
