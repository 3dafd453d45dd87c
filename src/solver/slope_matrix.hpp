// The slope matrix M as the methods see it: the entries' slopes, scaled as a weighted norm says, plus the low-rank part
// 2 lambda X that a squared penalty off the pattern adds. Nothing becomes dense, and no scaled copy is kept.
#pragma once

#include "seam/entry_store.hpp"
#include "solver/iterate.hpp"
#include "solver/weighted_norm.hpp"

namespace tracenorm {

class SlopeMatrix {
 public:
  SlopeMatrix(EntryStore& store, Panels& panels, const WeightedNorm& norm, const Iterate& iterate, Counters& counters);

  /// What was last learnt of the slopes: sums of their squares.
  void observe(Slopes which, double square) { (which == Slopes::current ? square_ : dual_square_) = square; }
  [[nodiscard]] double square(Slopes which) const { return which == Slopes::current ? square_ : dual_square_; }

  /// out = M v for a right panel, M' v for a left one. Exact panels of one column.
  void apply(Slopes which, const Panel& v, const Panel& out);
  /// The same of the entries alone, without the low-rank part.
  void apply_entries(Slopes which, const Panel& v, const Panel& out);
  /// out = M' M v in one pass. Exact panels of one column.
  void normal(Slopes which, const Panel& v, const Panel& out);

  /// The same to a few digits, at the speed of memory, for search panels: out = M'M v / size^2, product = M v / size.
  /// Two digits are enough where it is `rough`; without `out` only the product is made.
  void normal(Slopes which, double size, const Panel& v, const Panel& out, const Panel& product, bool rough = false);
  /// out = M v / size for the symmetric M of a symmetric problem.
  void product(Slopes which, double size, const Panel& v, const Panel& out);
  /// Its parts, for a pass that does it along the way: what it needs, and what is left to do afterwards.
  NormalProduct begin(double size, const Panel& v, const Panel& out, const Panel& product);
  void end(double size, const NormalProduct& product);
  /// A bound of |M|_F, or 1 where that will do: with it, nothing above can leave the range of Real.
  [[nodiscard]] double size(Slopes which) const;
  /// Whether a size does that for M as it is now. Numbers of a usual size stay in the range of Real by themselves;
  /// where every step on a vector is a delay, they are left as they are.
  [[nodiscard]] bool fits(double size, Slopes which) const;

  /// lambda of the penalty off the pattern; zero without one, and then there is no low-rank part.
  [[nodiscard]] double off_pattern() const { return lambda_; }
  [[nodiscard]] bool has_low_rank_part() const { return lambda_ > 0; }

 private:
  /// A bound of |M|_F that has an inverse in Real.
  [[nodiscard]] double whole_size(Slopes which) const;
  /// out += M v of the low-rank part.
  void add_low_rank(const Panel& v, const Panel& out) const { iterate_.add_product(2 * lambda_, v, out); }

  EntryStore& store_;
  Panels& panels_;
  const WeightedNorm& norm_;
  const Iterate& iterate_;
  Counters& counters_;
  double lambda_;
  double square_ = 0;
  double dual_square_ = 0;
  Panel scaled_[2];  // a vector times the norm's factors, by side
  Panel addend_;     // what the low-rank part adds to the rows of M v
  Panel row_product_;
  Panel block_;         // search panels: a block as the store takes it,
  Panel block_addend_;  // its addend,
  Panel block_part_;    // and the low-rank part of its answer
  Panel exact_block_[2];
};

}  // namespace tracenorm
