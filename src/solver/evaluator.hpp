// The problem as a method sees it: the iterate, the slopes at it, steps, and what can be proved. Made of the concepts
// around it, one file each; where the entries and the vectors live is behind the seam.
//
// With D = { trace norm <= radius }:
//   linearize(w)     M <- chord slopes at X of width w       (uniform affine approximation, paper Algorithm 1 line 6)
//   leading_atom     S <- argmin over D of <M, S> = -radius u v', u and v the leading singular pair of M   (line 7)
//   move(t)          X <- X + t (S - X)                                                                    (line 8)
// With a weighted trace norm all factors, atoms and products are those of Z = diag(row weight) X diag(col weight),
// whose trace norm is bounded (and where the problem asks for symmetric or semidefinite matrices it is Z that is such,
// which is the same: both weights are equal then): slopes there are diag(1 / row weight) M diag(1 / col weight).
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "seam/backend.hpp"
#include "solver/iterate.hpp"
#include "solver/leading_pair.hpp"
#include "solver/norm_bound.hpp"
#include "solver/offsets.hpp"
#include "solver/slope_matrix.hpp"
#include "solver/weighted_norm.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {

/// What one pass of `linearize` learns. With offsets their ridges are part of f and of f*, and M is the slopes at X + b
/// 1' + 1 c': -conjugate_sum - radius sigma_1(M) stays the bound, objective + conjugate_sum - inner what a smaller
/// width or better offsets would gain.
struct Linearization {
  double objective = 0;      ///< f(X), the nonsmooth objective
  double inner = 0;          ///< <M, X>
  double conjugate_sum = 0;  ///< sum f*(M_ij); NaN when it was not asked for
};

/// X and the offsets beside it.
struct ModelPoint {
  FactoredMatrix x;
  OffsetPanels offsets{};
};

struct LeadingAtom {
  Atom atom;  ///< -radius u v', of a symmetric problem one of +-radius u u', over the cone radius u u' or nothing
  double sigma = 0;  ///< u' M v: a lower bound of the largest singular value
  int products = 0;
};

struct SegmentPoint {
  double value;       ///< f(X + t (S - X))
  double derivative;  ///< a subgradient of it with respect to t
};

/// Error on held-out entries.
struct HeldOutError {
  double rmse = 0;
  double mae = 0;
  double loss = 0;  ///< mean loss
};

class Evaluator {
 public:
  /// Problem, execution and backend must outlive it.
  Evaluator(const Problem& problem, const Execution& execution, const Backend& backend, std::uint64_t seed);

  // Facts.
  [[nodiscard]] Index rows() const { return store_->facts().rows; }
  [[nodiscard]] Index cols() const { return store_->facts().cols; }
  [[nodiscard]] Offset entries() const { return store_->facts().entries; }
  [[nodiscard]] double radius() const { return radius_; }
  [[nodiscard]] Symmetry symmetry() const { return problem_.constraint.symmetry; }
  [[nodiscard]] double data_scale() const { return store_->facts().data_scale; }
  /// Bound on the slope jump: lambda of an l1 penalty, or of the loss.
  [[nodiscard]] double kink_slope() const;
  [[nodiscard]] bool cheap_conjugate() const;  ///< whether linearize may sum conjugates every time
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] const Execution& execution() const { return execution_; }
  [[nodiscard]] Panels& panels() { return *panels_; }
  [[nodiscard]] EntryStore& store() { return *store_; }

  // A Frank-Wolfe step.
  Linearization linearize(double width, bool want_conjugate);
  /// Starts from the pair of the last call. The result lives until the next call.
  const LeadingAtom& leading_atom(const OracleAccuracy& accuracy);
  /// Makes this the target S of the next move; a move of `step` takes offsets one step downhill. (Without a step they
  /// stay.)
  void aim(const Atom& atom, std::optional<double> step = std::nullopt);
  /// The same for a matrix of any rank.
  void aim(FactoredMatrix target) { aim(std::move(target), offsets_.now()); }
  void aim(ModelPoint target) { aim(std::move(target.x), target.offsets); }
  /// The objective and its derivative at several points of the segment from X to S, in one pass.
  void objective_at(std::span<const double> t, std::span<SegmentPoint> out);
  /// The derivatives of the smoothed objective there: the sum of moving averages that chord slopes of this width are
  /// the slopes of (docs/mathematics.md). It has no value in closed form, but a convex function needs none.
  void smoothed_derivatives_at(std::span<const double> t, double width, std::span<double> out);
  /// X <- X + t (S - X). Returns max |X_ij - S_ij| before the move, over the entries whose function has a kink.
  double move(double t);

  /// out = M v for a right panel of one column, M' v for a left one.
  void apply_slopes(const Panel& v, const Panel& out) { slopes_.apply(Slopes::current, v, out); }

  // Descent over factors.
  /// Multipliers for kinks; see EntryStore.
  void shift_kinks(double width);
  /// What linearize(width) would say at X = scale * left right', without going there or changing M, and the products of
  /// the slopes N there with the factors: products = (N right, N' left), the gradient but for the scale.
  /// The last `offset_columns` columns are left to the offsets, whose gradient is returned too. The factors are left as
  /// they met the entries: scaled by the weights of the norm, offsets beside them.
  Linearization factor_gradient(const Product& at, double scale, double width, const Product& products,
                                const OffsetPanels& offsets = {}, const OffsetPanels& offset_gradient = {});
  /// A matrix in panels for descents: left * sqrt|values| and right * sqrt|values|, signs on the left.
  /// So many columns at the end stay zero.
  [[nodiscard]] Product sampled(const FactoredMatrix& matrix, Index spare = 0);
  /// Of the sum of two.
  [[nodiscard]] Product sampled(const FactoredMatrix& matrix, const FactoredMatrix& more, Index spare);
  /// out = (M right, M' left): both products of a block of vectors in one pass.
  void multiply(const Product& block, const Product& out);

  // The iterate.
  [[nodiscard]] const FactoredMatrix& iterate() { return iterate_.factors(); }
  /// For the end: afterwards there are objectives of other matrices alone.
  [[nodiscard]] FactoredMatrix take_iterate() { return iterate_.take(); }
  /// On the host.
  [[nodiscard]] LowRankMatrix downloaded() { return iterate().download(rows(), cols()); }
  [[nodiscard]] Index terms() const { return iterate_.terms(); }
  /// Replaces it.
  void restart(FactoredMatrix x);
  /// Offsets change with it.
  void restart(ModelPoint point);
  void restart(const LowRankMatrix& x) { restart(FactoredMatrix(*panels_, x)); }
  [[nodiscard]] ModelPoint point() { return {iterate().copy(), offsets_.copy(offsets_.now())}; }
  [[nodiscard]] Offsets& offsets() { return offsets_; }
  /// f at any matrix in the units of the iterate, with the offsets of now, in double and never too small: what can be
  /// compared with a lower bound. What `linearize` says of the iterate is rounded to the precision of the entries.
  [[nodiscard]] double objective(const FactoredMatrix& x);
  [[nodiscard]] double objective(const ModelPoint& point);
  /// The same for a matrix in the units of the data.
  [[nodiscard]] double objective_of_data(const FactoredMatrix& x);
  void remember() {
    iterate_.remember();
    offsets_.remember();
  }
  /// Its offsets become those of now.
  [[nodiscard]] FactoredMatrix remembered() {
    offsets_.recall();
    return iterate_.remembered();
  }
  /// Nobody will linearize again: the memory of slopes is free for the answer.
  void forget_slopes() { store_->forget_slopes(); }
  /// Nobody needs the current slopes or the target before they are made anew.
  void leave_slopes() { store_->leave_slopes(); }
  /// Rewrites the factors of the iterate as a thin SVD, and its entries from them (so rounding does not pile up).
  void compress();
  [[nodiscard]] const WeightedNorm& norm() const { return norm_; }

  // Proofs.
  /// Mbar <- (1 - t) Mbar + t M; the first call makes Mbar = M.
  void average(double t);
  /// Makes a dual point G of current or averaged slopes. Returns sum f*(G_ij), never too small.
  double make_dual(Slopes which);
  /// sum f*(0): minus it is the sum of the entries' minima, a bound that is tight when the radius is not. Infinite
  /// where a function has no such slope.
  double zero_conjugate_sum();
  /// A lower bound of sigma_1 of current slopes or of the dual point, good enough to decide whether a proof is worth
  /// its cost.
  double estimate_norm(Slopes which) { return norm_bound_.estimate(which); }
  /// An upper bound of sigma_1 of the dual point; see NormBound.
  SpectralBound bound_norm(double estimate, double work) { return norm_bound_.bound(estimate, work); }
  [[nodiscard]] bool norm_by_lanczos(double work) const { return norm_bound_.by_lanczos(work); }
  [[nodiscard]] bool certain_in_a_moment() const { return norm_bound_.certain_in_a_moment(); }
  SpectralBound certain_bound(double estimate) { return norm_bound_.certain_bound(estimate); }
  /// The dual point itself.
  [[nodiscard]] DualPoint dual_point();
  /// How many slopes it has, in the order of the data.
  [[nodiscard]] Offset dual_size() const;

  // To go on elsewhere, or later.
  /// The iterate, the one that is remembered if there is one, counters and random numbers. Says whether the place of
  /// the entries keeps the rest; the search for the leading pair begins anew.
  bool exchange(Exchange state, bool remembers);
  /// A point that a method keeps.
  void exchange(Exchange state, ModelPoint& point);

  // Held-out entries.
  void watch(const Entries& held_out);
  [[nodiscard]] HeldOutError held_out_error() const;

 private:
  friend class RankDropSteps;

  Evaluator(const Problem& problem, const Execution& execution, Place place, std::uint64_t seed);
  void aim(FactoredMatrix target, const OffsetPanels& offsets);
  void count_pass(double passes = 1) { counters_.passes += passes; }
  void count_certificate_pass() {
    count_pass();
    counters_.certificate_passes += 1;
  }
  /// lambda times the sum of squares of the unobserved entries, for a penalty off the pattern.
  [[nodiscard]] double off_pattern(double square_norm, double observed_square) const;
  /// What such a penalty adds along the segment to the target.
  [[nodiscard]] SegmentPoint off_pattern_at(double t, double square, double square_derivative) const;
  /// |X|_F^2 at a point of that segment.
  [[nodiscard]] double square_at(double t) const;
  /// X at the entries from its factors.
  void load();
  /// What a penalty off the pattern adds at such a matrix, never too small.
  [[nodiscard]] double off_pattern_bound(const FactoredMatrix& x, double observed_square);

  const Problem& problem_;
  const Execution& execution_;
  double radius_;
  Counters counters_;
  Random random_;
  std::unique_ptr<Panels> panels_;
  std::unique_ptr<EntryStore> store_;
  WeightedNorm norm_;
  Iterate iterate_;
  SlopeMatrix slopes_;
  LeadingPair pair_;
  NormBound norm_bound_;
  Offsets offsets_;

  LeadingAtom leading_;
  Product target_;                              // an atom as it meets the entries
  Product target_with_offsets_;                 // and the offsets beside it, where there are any
  std::optional<FactoredMatrix> aimed_matrix_;  // or a matrix
  Atom aimed_;
  double square_norm_ = 0;    // |X|_F^2 from the factors, kept where a penalty off the pattern needs it
  double target_inner_ = 0;   // <X, S>
  double target_square_ = 0;  // |S|_F^2
  Offset watched_ = 0;
  Eigen::MatrixXd left_gram_;  // kept, like the next one, so that descents do not allocate
  Eigen::MatrixXd right_gram_;
};

/// An evaluator on the CPU with an execution of its own, for those who need no more than one pass or two.
class OwnEvaluator {
 public:
  explicit OwnEvaluator(const Problem& problem, int threads = 0, std::uint64_t seed = 1);
  Evaluator* operator->() { return &evaluator_; }
  Evaluator& operator*() { return evaluator_; }

 private:
  Execution execution_;
  std::unique_ptr<Backend> shared_;  // null where all rows are here
  Evaluator evaluator_;
};

}  // namespace tracenorm
