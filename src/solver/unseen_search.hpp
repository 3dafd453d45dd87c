// A search for the leading singular pair of M for places where every answer to the host is a delay: all products are
// made before the host looks at what came of them. With W_0 the start,
//
//   W_{j+1} = (M'M W_j - W_j diag(shifts_j)) / size
//
// is a Newton basis of the block Krylov space (Bai, Hu and Reichel 1994): where the shifts are eigenvalues that the
// last search saw, its blocks are far from parallel, and nothing has to be made orthogonal on the way. One answer
// brings the Gram matrices of the W_j and of their images M W_j, and the host finds the y with the largest |M W y| for
// |W y| = 1.
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <vector>

#include "base/function_ref.hpp"
#include "solver/block_krylov.hpp"

namespace tracenorm {

class UnseenSearch {
 public:
  explicit UnseenSearch(Panels& panels) : panels_(panels) {}

  /// What another search saw of the spectrum of M'M, in any order: the first one needs it.
  void learn(const RitzVector& eigenvalues);
  /// Whether there is something to go by.
  [[nodiscard]] bool ready() const { return shifts_.size() > 0; }

  /// Makes as many products as there are images. apply(j, W_j, out) makes image j, which is M W_j, and out = M'M W_j,
  /// which is always `rest`; there is none for the last one. What is nearly in the span of the rest is left out:
  /// `dependent` is how little of its square may be new, and a few times the rounding of images. `start` becomes the
  /// best vectors; it need not be orthonormal. False, and nothing is known any more, where numbers are not finite.
  bool find(FunctionRef<void(int, const Panel&, const Panel&)> apply, PanelList basis, const Panel& rest,
            PanelList images, const Panel& start, double dependent, KrylovResult& result);
  /// By which share of itself the last product raised the eigenvalue that the last search found.
  [[nodiscard]] double gain() const { return gain_; }

 private:
  /// W_{j+1} of W_j and the rest.
  void extend(int j, const Panel& block, const Panel& rest, const Panel& next);
  /// Of so many of the first vectors, in columns: what is combined to the orthonormal Ritz vectors, whose eigenvalues
  /// are found beside them, ascending.
  RitzMatrix ritz_vectors(Eigen::Index size, double dependent);

  Panels& panels_;
  RitzVector shifts_;   // the largest first, each of the others as far as can be from those before
  RitzVector leading_;  // the largest ones, descending
  RitzMatrix gram_;
  RitzMatrix image_gram_;
  double gain_ = 0;
  Eigen::SelfAdjointEigenSolver<RitzMatrix> solver_;
};

}  // namespace tracenorm
