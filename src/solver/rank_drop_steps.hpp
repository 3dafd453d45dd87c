// Rank-drop steps on the iterate of an evaluator: what they would do to the objective, and doing them. The iterate is
// kept as a thin SVD X = U S V' from the first use on.
#pragma once

#include "solver/evaluator.hpp"

namespace tracenorm {

/// X <- scale * U S^(1/2) (I - q q') S^(1/2) V' with a unit vector q.
struct RankDropStep {
  Eigen::VectorXd q;
  double scale = 1;
};

class RankDropSteps {
 public:
  explicit RankDropSteps(Evaluator& f);

  /// S, descending.
  const Eigen::VectorXd& singular_values() { return f_.iterate_.thin().values(); }
  /// U' M V for the current slopes.
  [[nodiscard]] Eigen::MatrixXd project_slopes();
  /// The nearest unit vector along which a step keeps X symmetric, where it is: of terms of one sign.
  [[nodiscard]] Eigen::VectorXd admissible(const Eigen::VectorXd& q);
  /// The objective after a step that is not taken.
  double objective_after(const RankDropStep& step);
  /// How much it would change the smoothed objective of the given width, whose gradient the slopes are (they must be
  /// those of the current X).
  double smoothed_change_after(const RankDropStep& step, double width);
  /// Takes the step. Returns the r x (r-1) matrix E with U <- U E and V <- V E.
  Eigen::MatrixXd drop(const RankDropStep& step);

 private:
  /// The entries after a step are scale * (X - (U x)(V x)') with x = S^(1/2) q: aims at them. Says what the store says,
  /// and |X|_F^2 there.
  struct Aimed {
    EntrySums sums;
    double square;
  };
  Aimed aim(const RankDropStep& step, std::optional<double> width);

  Evaluator& f_;
  int dropped_ = 0;
  Product term_;
};

}  // namespace tracenorm
