// Where the entries live: the data, X at them, slopes, their average. Each verb is about one pass over them; what it
// returns is a sum or a maximum over rows, what it reads and writes besides are panels. So a store that has part of the
// rows answers for its part, and answers can be added.
//
// With f the sum of the entries' functions (weight * loss + penalty) and X the iterate:
//   linearize(w)   M <- chord slopes at X of width w         (uniform affine approximation, paper Algorithm 1 line 6)
//   multiply       products with M, for the leading pair and for proofs                                    (line 7)
//   move(t)        X <- X + t (S - X) at the entries, S being what was aimed at                            (line 8)
// Of a symmetric problem a store may keep one triangle: sums are over all entries all the same, and products with both
// factors, which are equal there but for signs of columns, are made for the left alone (M right).
// A store knows nothing of norms, radii, ranks or methods, and X only at its entries.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <vector>

#include "base/exchange.hpp"
#include "base/sums.hpp"
#include "seam/panels.hpp"
#include "tracenorm/certificate.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm {

/// What passes and products cost here, in passes, for those who choose between them.
struct WorkModel {
  double block_pass = 0;            ///< a pass with `search_columns` vectors, beyond one with a single vector
  double gram_of_rows = 0;          ///< M M'
  double gram_of_columns = 0;       ///< M' M
  double operations_per_entry = 1;  ///< multiply-adds of dense algebra in the time of one entry
  double answer = 0;                ///< a small matrix that the host waits for
};

struct StoreFacts {
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;        ///< how many entries one pass reads
  double data_scale = 1;     ///< root mean square of the observed values
  double off_pattern = 0;    ///< lambda of a squared penalty that acts where there are no entries, 0 for none
  Index search_columns = 1;  ///< how many vectors at once a search multiplies
  WorkModel work{};
};

/// The matrix left * right': an atom (one exact column each) or any other (panels for descents).
struct Product {
  Panel left;
  Panel right;
};

/// The matrix left * diag(values) * right', in exact panels.
struct FactorView {
  Panel left;
  Eigen::Ref<const Eigen::VectorXd> values;
  Panel right;
};

/// Of a symmetric problem (both sides of a panel are alike there) only `product` is made.
/// out = M' D (D M in + addend), and product = D M in + addend, with D the diagonal of `factor`. A factor is how the
/// weights of a norm join a fused product, an addend how the low-rank part of a slope matrix does; both may be missing.
/// Without `out` the second half is not made.
struct NormalProduct {
  Panel in;
  Panel out;
  Panel product;
  Panel factor{};
  Panel addend{};
  bool rough = false;  ///< two digits are enough
};

class EntryStore {
 public:
  EntryStore() = default;
  EntryStore(const EntryStore&) = delete;
  EntryStore& operator=(const EntryStore&) = delete;
  virtual ~EntryStore() = default;

  [[nodiscard]] const StoreFacts& facts() const { return facts_; }

  /// M <- chord slopes, until X moves. A first product with them rides along while they are at hand, if one is given.
  virtual EntrySums linearize(double width, bool with_conjugates, const NormalProduct* first) = 0;
  /// Multipliers for kinks. From here on slopes of kinked functions are taken at x + c instead of x, |c| at most the
  /// width: c is made so that an entry that comes to rest on its kink keeps the slope it has now, the one that balances
  /// it there, and the slack of that entry vanishes at a width that does not (docs/mathematics.md, "Corrective steps").
  virtual void shift_kinks(double width) = 0;

  /// Makes S the target of segments and moves, until the next one.
  virtual void aim(const Product& target) = 0;
  /// Makes scale * (X - term) the target. Says what a move of 1 would make of the objective (`objective`, `square_x`),
  /// or, given a width, how it would change the smoothed objective whose gradient the current slopes are (`inner`), by
  /// the trapezoidal rule on each entry's slope.
  virtual EntrySums aim_without(const Product& term, double scale, std::optional<double> width) = 0;
  /// Values and derivatives at up to kSegmentPoints points X + t (S - X). With a width, derivatives alone, those of the
  /// smoothed objective.
  virtual SegmentSums segment(std::span<const double> t, std::optional<double> width) = 0;
  /// Returns the largest |X - S| before the move, over the entries whose function has a kink. A step of 1 sets X to S.
  virtual double move(double t) = 0;
  /// X <- these factors.
  virtual void load(const FactorView& x) = 0;
  /// `objective` and `square_x` at these factors, whatever X is: in double, the first too small by no more than
  /// `rounding`.
  [[nodiscard]] virtual EntrySums objective(const FactorView& x) const = 0;

  /// What linearize(width) would say at scale * left right', without going there or changing M; and products = (N
  /// right, N' left) with the slopes N there.
  virtual EntrySums factor_gradient(const Product& at, double scale, double width, const Product& products) = 0;

  /// out = M in for a right panel, M' in for a left one. Exact panels.
  virtual void multiply(Slopes which, const Panel& in, const Panel& out) = 0;
  /// The fused product, of exact panels of one column or of search panels.
  virtual void multiply(Slopes which, const NormalProduct& product) = 0;
  /// out = (M right, M' left) in one pass. Panels for descents.
  virtual void multiply(Slopes which, const Product& in, const Product& out) = 0;

  /// Average <- (1 - t) average + t M; the first call makes it M.
  virtual void average(double t) = 0;
  /// Makes a dual point of these slopes, which products with Slopes::dual are of from here on: every slope becomes a
  /// number that its function has as a slope. `conjugate` of exactly these numbers, in double, too small by no more
  /// than `rounding`; and `square_slope`. (Zero slopes, which prove what the functions' own minima do, are only
  /// summed.) With a penalty off the pattern the dual point is 2 lambda X there, X being these factors (null without
  /// such a penalty); `square_x` is of them, and what is multiplied is the dual point less 2 lambda X.
  virtual EntrySums conjugates(Slopes which, const FactorView* x) = 0;
  /// The dual point at the entries, in their order.
  [[nodiscard]] virtual std::vector<Real> dual_slopes() const = 0;
  /// The Gram matrix of the columns (right) or rows (left) of D M E in double, with diagonals D and E where given.
  virtual Eigen::MatrixXd gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) = 0;
  /// Nobody will linearize again: the memory of slopes is free for the answer.
  virtual void forget_slopes() = 0;
  /// Nobody needs the current slopes or the target before they are made anew: a place may use their memory until then.
  virtual void leave_slopes() {}

  /// Follows X, which is these factors now, at held-out places through every move.
  virtual void watch(const Entries& held_out, const FactorView& x) = 0;
  [[nodiscard]] virtual HeldOutSums held_out() const = 0;

  /// X at the entries, the average of slopes and the multipliers. False where a place does not keep these: X is loaded
  /// then, the others begin anew.
  virtual bool exchange(Exchange /*state*/) {  // NOLINT(performance-unnecessary-value-param): a view
    return false;
  }

 protected:
  StoreFacts facts_;
};

}  // namespace tracenorm
