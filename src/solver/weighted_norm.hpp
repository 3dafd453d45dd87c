// A weighted trace norm. The entries stay those of X, so losses, widths and held-out errors keep their units;
// everything low-rank is that of Z = diag(row weight) X diag(col weight), so radius, singular values and rank drops
// mean what they mean for the plain norm. The two meet in the vectors that touch entries: with R and C the inverse
// weights, X = R Z C; with M the slopes of X, those of Z are R M C, and (R M C) v is R (M (C v)). No scaled copy of the
// slopes is kept.
#pragma once

#include "seam/panels.hpp"
#include "solver/factored_matrix.hpp"
#include "tracenorm/constraint.hpp"

namespace tracenorm {

class WeightedNorm {
 public:
  WeightedNorm(const TraceNormBall& ball, Panels& panels);

  [[nodiscard]] bool plain() const { return !scales_[0][0]; }
  /// Rows of left panels times R, of right ones times C; nothing where the norm is plain.
  void scale(const Panel& panel) const;
  /// R or C in a panel of this use; empty where the norm is plain.
  [[nodiscard]] const Panel& factors(Side side, Use use) const {
    return scales_[static_cast<std::size_t>(side)][static_cast<std::size_t>(use)];
  }
  /// A bound of what an entry of M is multiplied by.
  [[nodiscard]] double largest() const { return largest_; }

  /// X from Z, and Z from X. Scaled singular vectors are no longer orthogonal.
  [[nodiscard]] FactoredMatrix to_data(FactoredMatrix z) const;
  [[nodiscard]] FactoredMatrix from_data(FactoredMatrix x) const;

 private:
  Panels& panels_;
  Panel scales_[2][3];  // by side and use
  Panel row_weight_;
  Panel col_weight_;
  double largest_ = 1;
};

}  // namespace tracenorm
