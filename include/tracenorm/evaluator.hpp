// Where the entries live. Methods speak to the data in these verbs only: scalars and atoms cross this boundary,
// entry-sized arrays never do. Implementations: CPU sparse, CPU dense.
//
// The evaluator holds the iterate X (factors, and its entries where the data are) and the slope matrix M of the last
// linearization. With D = { trace norm <= radius }:
//   linearize(w)     M <- chord slopes at X of width w       (uniform affine approximation, paper Algorithm 1 line 6)
//   leading_atom     S <- argmin over D of <M, S> = -radius u v', u and v the leading singular pair of M   (line 7)
//   move(t)          X <- X + t (S - X)                                                                    (line 8)
// With a weighted trace norm all factors, atoms and products are those of Z = diag(row weight) X diag(col weight),
// whose trace norm is bounded: slopes there are diag(1 / row weight) M diag(1 / col weight).
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>

#include "tracenorm/factors.hpp"
#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {

/// Work counted without a clock.
struct Counters {
  double passes = 0;              ///< passes over the entries, everything included
  Offset products = 0;            ///< products with the slope matrix (a fused G'Gv counts once)
  double certificate_passes = 0;  ///< the part of `passes` spent on certificates (dense algebra converted to passes)
};

/// What one pass of `linearize` learns.
struct Linearization {
  double objective = 0;      ///< f(X), the nonsmooth objective
  double inner = 0;          ///< <M, X>
  double conjugate_sum = 0;  ///< sum f*(M_ij); NaN when it was not asked for
};

/// How exactly the leading singular pair is wanted.
struct OracleAccuracy {
  double relative = 1e-3;  ///< stop when the residual of the squared singular value is below this share of it
  int products = 60;       ///< or after this many products; a pass with several vectors counts as two
};

struct LeadingAtom {
  Atom atom;         ///< -radius u v'
  double sigma = 0;  ///< u' M v: a lower bound of the largest singular value
  int products = 0;
};

/// Which slope matrix a certificate is made from: the current one, the running average of past ones, or none at all
/// (each entry minimised on its own). All are dual feasible.
enum class Slopes { current, average, zero };

/// An upper bound on the largest singular value and how it was proved.
struct SpectralBound {
  enum class Proof { none, exact, cholesky, probabilistic };
  double value = 0;
  Proof proof = Proof::none;
  double failure_probability = 0;  ///< of `value` being too small; zero for the first two proofs
};

struct SegmentPoint {
  double value;       ///< f(X + t (S - X))
  double derivative;  ///< a subgradient of it with respect to t
};

/// A rank-drop step: X <- scale * U S^(1/2) (I - q q') S^(1/2) V' with a unit vector q, where X = U S V' is the thin
/// SVD.
struct RankDropStep {
  Eigen::VectorXd q;
  double scale = 1;
};

/// Error on held-out entries.
struct HeldOutError {
  double rmse = 0;
  double mae = 0;
  double loss = 0;  ///< mean loss
};

class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;

  [[nodiscard]] virtual Index rows() const = 0;
  [[nodiscard]] virtual Index cols() const = 0;
  [[nodiscard]] virtual Offset entries() const = 0;  ///< how many entries one pass reads
  [[nodiscard]] virtual double radius() const = 0;
  [[nodiscard]] virtual double data_scale() const = 0;  ///< root mean square of the observed values
  /// Bound on the slope jump: lambda of an l1 penalty, or of the loss.
  [[nodiscard]] virtual double kink_slope() const = 0;
  [[nodiscard]] virtual bool cheap_conjugate() const = 0;  ///< whether linearize may sum conjugates every time

  virtual double objective() = 0;
  virtual Linearization linearize(double width, bool want_conjugate) = 0;
  /// Multipliers for kinks. From here on slopes of kinked functions are taken at x + c instead of x, |c| at most the
  /// width: c is made so that an entry that comes to rest on its kink keeps the slope it has now, the one that balances
  /// it there, and the slack of that entry vanishes at a width that does not (docs/mathematics.md, "Corrective steps").
  virtual void shift_kinks(double width) = 0;
  /// Starts from the pair of the last call. The result lives until the next call.
  virtual const LeadingAtom& leading_atom(const OracleAccuracy& accuracy) = 0;
  /// Makes `atom` the target S of the next move; it must live until then.
  virtual void aim(const Atom& atom) = 0;
  /// The same for a matrix of any rank.
  virtual void aim(const LowRankMatrix& target) = 0;
  /// The objective and its derivative at several points of the segment from X to S, in one pass.
  virtual void objective_at(std::span<const double> t, std::span<SegmentPoint> out) = 0;
  /// The derivatives of the smoothed objective there: the sum of moving averages that chord slopes of this width are
  /// the slopes of (docs/mathematics.md). It has no value in closed form, but a convex function needs none.
  virtual void smoothed_derivatives_at(std::span<const double> t, double width, std::span<double> out) = 0;
  /// X <- X + t (S - X). Returns max |X_ij - S_ij| before the move, over the entries whose function has a kink.
  virtual double move(double t) = 0;
  /// out = M block, or out = M' block.
  virtual void apply_block(const Eigen::MatrixXd& block, Eigen::MatrixXd& out) = 0;
  virtual void apply_transpose_block(const Eigen::MatrixXd& block, Eigen::MatrixXd& out) = 0;

  /// What linearize(width) would say at X = scale * left right', without going there or changing M, and the products of
  /// the slopes N there with the factors: products = (N right, N' left), the gradient but for the scale.
  virtual Linearization factor_gradient(const Factors& at, double scale, double width, Factors& products) = 0;
  /// out = (M right, M' left): both products of a block of vectors in one pass.
  virtual void multiply(const Factors& block, Factors& out) = 0;

  /// X from Z, and Z from X; the same unless the norm is weighted.
  [[nodiscard]] virtual LowRankMatrix to_data_units(LowRankMatrix z) const = 0;
  [[nodiscard]] virtual LowRankMatrix from_data_units(LowRankMatrix x) const = 0;
  /// Replaces the iterate.
  virtual void restart(LowRankMatrix factors) = 0;
  /// Marks the iterate of now, for `remembered` to give back. Cheap as long as only atoms are added to it.
  virtual void remember() = 0;
  [[nodiscard]] virtual LowRankMatrix remembered() = 0;
  /// Nobody will linearize again: the memory of slopes is free for the answer.
  virtual void forget_slopes() {}
  [[nodiscard]] virtual const LowRankMatrix& iterate() = 0;
  /// How many terms it is stored with: at least its rank.
  [[nodiscard]] virtual Index terms() const = 0;
  /// Rewrites the factors of the iterate as a thin SVD, and its entries from them (so rounding does not pile up).
  virtual void compress() = 0;

  /// From here on the iterate is kept as a thin SVD X = U S V' that every move updates.
  virtual void keep_thin() = 0;
  /// S, descending.
  virtual const Eigen::VectorXd& singular_values() = 0;
  /// U' M V for the current slopes.
  virtual void project_slopes(Eigen::MatrixXd& out) = 0;
  /// The objective after a rank-drop step that is not taken.
  virtual double objective_after(const RankDropStep& step) = 0;
  /// How much it would change the smoothed objective of the given width, whose gradient the slopes are (they must be
  /// those of the current X). By the trapezoidal rule on each entry's slope.
  virtual double smoothed_change_after(const RankDropStep& step, double width) = 0;
  /// Takes the step. Returns the r x (r-1) matrix E with U <- U E and V <- V E.
  virtual Eigen::MatrixXd drop(const RankDropStep& step) = 0;

  /// Mbar <- (1 - t) Mbar + t M; the first call makes Mbar = M.
  virtual void average(double t) = 0;
  /// sum f*(Mbar_ij). Must be called before the norm of the average is asked for.
  virtual double average_conjugate_sum() = 0;
  /// sum f*(0): minus it is the sum of the entries' minima, a bound that is tight when the radius is not.
  virtual double zero_conjugate_sum() = 0;
  /// A lower bound of sigma_1, good enough to decide whether a proof is worth its cost.
  virtual double estimate_norm(Slopes which) = 0;
  /// An upper bound of sigma_1, proved as rigorously as `work` passes allow.
  virtual SpectralBound bound_norm(Slopes which, double work) = 0;

  /// Follows X at held-out places through every move.
  virtual void watch(const Entries& held_out) = 0;
  [[nodiscard]] virtual HeldOutError held_out_error() const = 0;

  [[nodiscard]] virtual const Counters& counters() const = 0;
};

/// Picks the evaluator: dense for full matrices and for an l1 penalty, sparse otherwise. The problem must outlive it.
std::unique_ptr<Evaluator> make_evaluator(const Problem& problem, std::uint64_t seed = 1);

}  // namespace tracenorm
