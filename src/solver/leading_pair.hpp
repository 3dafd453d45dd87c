// The leading singular pair of the slope matrix: line 7 of the paper's Algorithm 1 needs its vectors to a digit or two,
// a judged gap sigma_1 to many. Both start from what the last search found.
//
// Of a symmetric problem it is an eigenpair: that of largest magnitude, or over the semidefinite cone the least one,
// for which sigma is max(0, -lambda): what a unit of trace norm can gain.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "solver/block_krylov.hpp"
#include "solver/slope_matrix.hpp"
#include "solver/unseen_search.hpp"

namespace tracenorm {

/// How exactly the leading singular pair is wanted.
struct OracleAccuracy {
  double relative = 1e-3;  ///< stop when the residual of the squared singular value is below this share of it
  int products = 60;       ///< or after this many products; a pass with several vectors counts as two
};

/// Adds the noise that a warm start needs (alone it can miss a new leading direction that it is orthogonal to), or all
/// there is to a cold one, and makes it orthonormal.
void draw_start(Panels& panels, const Panel& block, bool warm, Random& random);

/// How much a unit of trace norm can gain along an eigenpair of the slopes.
inline double gain(Symmetry symmetry, double eigenvalue) {
  return symmetry == Symmetry::semidefinite ? std::max(0.0, -eigenvalue) : std::abs(eigenvalue);
}
inline SpectrumEnd end_of(Symmetry symmetry) {
  if (symmetry == Symmetry::none) return SpectrumEnd::largest;
  return symmetry == Symmetry::semidefinite ? SpectrumEnd::least : SpectrumEnd::magnitude;
}

class LeadingPair {
 public:
  LeadingPair(SlopeMatrix& slopes, Panels& panels, const StoreFacts& facts, Symmetry symmetry, Random& random);

  /// The first product of a search can ride along with the pass that makes the slopes: its vectors are known by then.
  /// What that pass should do, null when nothing; `arrived` says that it has been done.
  const NormalProduct* ride_along();
  void arrived();
  /// The low-rank part of the slopes is about to change: a product that has been made is worth nothing.
  void slopes_change() {
    if (first_ == First::ready) first_ = First::wanted;
  }

  void find(const OracleAccuracy& accuracy);
  /// Unit vectors u and v, and u' M v: a lower bound of the largest singular value.
  [[nodiscard]] const Panel& left() const { return left_; }
  [[nodiscard]] const Panel& right() const { return right_; }
  [[nodiscard]] double sigma() const { return sigma_; }
  /// The steepest matrix of trace norm one is u v' times this.
  [[nodiscard]] double weight() const { return weight_; }
  [[nodiscard]] int products() const { return products_; }

 private:
  /// Makes the start of the next search.
  void draw();
  enum class First { unwanted, wanted, ready };
  /// Whether the first product is there: it was made with the size that slopes had before, and is of no use where they
  /// have become quite others.
  bool take_first(First next);
  void find_fast(const OracleAccuracy& accuracy);
  void find_exactly(const OracleAccuracy& accuracy);
  /// Sigma of v and M v, which become unit vectors.
  void measure();
  /// The eigenpair, by products with M instead of M'M.
  void find_symmetric(const OracleAccuracy& accuracy);

  SlopeMatrix& slopes_;
  Panels& panels_;
  Random& random_;
  Symmetry symmetry_;
  Index columns_;
  bool unseen_;                                            // searches make all their products before the host looks
  int unseen_products_ = std::numeric_limits<int>::max();  // of the next one, if so many may be made
  BlockKrylov krylov_;
  UnseenSearch unseen_search_;
  std::unique_ptr<BlockKrylov> exact_krylov_;  // made when it is first needed
  std::vector<Panel> row_products_;  // M times each block of a search, so that M times the answer needs no pass
  Panel start_;                      // of the next search
  bool warm_ = false;
  bool rough_ = false;  // products of the last search could be wrong in the third digit
  First first_ = First::unwanted;
  double first_size_ = 1;
  NormalProduct first_product_;
  Panel left_;
  Panel right_;
  double sigma_ = 0;
  double weight_ = -1;
  int products_ = 0;
};

}  // namespace tracenorm
