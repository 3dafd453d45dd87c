// What the two CPU evaluators share: shards, the singular-pair solver on the fused product, averages, bounds, held-out
// entries. A derived class says how its slope matrix is multiplied and moved.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "kernels/kernels.hpp"
#include "linalg/block_krylov.hpp"
#include "linalg/lanczos.hpp"
#include "linalg/thin_svd.hpp"
#include "tracenorm/evaluator.hpp"

namespace tracenorm {

/// Sparse work moves about one entry, BLAS about twenty multiply-adds, per nanosecond and core.
inline constexpr double kFlopsPerEntry = 20;

/// Sums over shards are made for this many columns at a time.
inline constexpr Index kColumnBlock = 2048;

/// What a pass with a block of vectors costs beyond one with a single vector, in passes (docs/measurements.md).
inline constexpr double block_cost(Index width) { return width == 1 ? 0.0 : 0.3; }

/// Norm of the noise added to a unit start vector.
inline constexpr double kStartNoise = 0.05;

/// Rows cut into ranges of about equal mass. The cut depends on the data alone. `outputs` is how many numbers a range
/// writes beside its entries.
std::vector<Index> cut_rows(Index rows, Offset entries, const Offset* begin, Index outputs = 0);
/// The same into about as many ranges as wanted.
std::vector<Index> cut_rows_into(Offset wanted, Index rows, Offset entries, const Offset* begin);

class CpuEvaluator : public Evaluator {
 public:
  CpuEvaluator(const Problem& problem, Index rows, Index cols, std::uint64_t seed);

  [[nodiscard]] Index rows() const final { return rows_; }
  [[nodiscard]] Index cols() const final { return cols_; }
  [[nodiscard]] double radius() const final { return radius_; }
  [[nodiscard]] double data_scale() const final { return data_scale_; }
  [[nodiscard]] double kink_slope() const final;
  [[nodiscard]] bool cheap_conjugate() const final;

  double objective() final;
  Linearization linearize(double width, bool want_conjugate) final;
  void shift_kinks(double width) final;
  const LeadingAtom& leading_atom(const OracleAccuracy& accuracy) final;
  void aim(const Atom& atom) final;
  void aim(const LowRankMatrix& target) final;
  void objective_at(std::span<const double> t, std::span<SegmentPoint> out) final;
  void smoothed_derivatives_at(std::span<const double> t, double width, std::span<double> out) final;
  double move(double t) final;
  void apply_block(const Eigen::MatrixXd& block, Eigen::MatrixXd& out) final;
  void apply_transpose_block(const Eigen::MatrixXd& block, Eigen::MatrixXd& out) final;

  Linearization factor_gradient(const Factors& at, double scale, double width, Factors& products) final;
  void multiply(const Factors& block, Factors& out) final;

  [[nodiscard]] LowRankMatrix to_data_units(LowRankMatrix z) const final;
  [[nodiscard]] LowRankMatrix from_data_units(LowRankMatrix x) const final;
  void restart(LowRankMatrix factors) final;
  void remember() final;
  [[nodiscard]] LowRankMatrix remembered() final;
  void forget_slopes() final;
  [[nodiscard]] const LowRankMatrix& iterate() final;
  [[nodiscard]] Index terms() const final { return thin_ ? thin_->terms() : iterate_.terms(); }
  void compress() final;

  void keep_thin() final;
  const Eigen::VectorXd& singular_values() final { return thin_->values(); }
  void project_slopes(Eigen::MatrixXd& out) final;
  double objective_after(const RankDropStep& step) final;
  double smoothed_change_after(const RankDropStep& step, double width) final;
  Eigen::MatrixXd drop(const RankDropStep& step) final;

  void average(double t) final;
  double average_conjugate_sum() final;
  double zero_conjugate_sum() final;
  double estimate_norm(Slopes which) final;
  SpectralBound bound_norm(Slopes which, double work) final;

  void watch(const Entries& held_out) final;
  [[nodiscard]] HeldOutError held_out_error() const final;
  [[nodiscard]] const Counters& counters() const final { return counters_; }

 protected:
  using Vector = Eigen::VectorXd;
  using ConstVector = Eigen::Ref<const Eigen::VectorXd>;
  using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

  /// Which array of slopes a product uses. With a weighted norm these are the slopes of X; the vectors are scaled.
  [[nodiscard]] const Real* slopes(Slopes which) const {
    if (which == Slopes::current) return slope_.data();
    return has_low_rank_part() ? certified_.data() : average_.data();
  }

  /// The rows' part of M v for one shard, and so on: the derived class picks the kernel.
  virtual void apply_shard(int shard, const Real* m, const double* v, double* product) const = 0;
  virtual void apply_transpose_shard(int shard, const Real* m, const double* u, double* out) const = 0;
  virtual void normal_shard(int shard, const Real* m, const double* v, const kernels::RowTerms<double>& terms,
                            double* out) const = 0;
  /// In Real, for rows [first, last) and `width` vectors side by side, whose rows are in the order `column_order_`: one
  /// vector, or as many as `fast_width` says.
  virtual void normal_fast_rows(Index first, Index last, const Real* m, const Real* v, Index width,
                                const kernels::RowTerms<Real>& terms, Real* out) const = 0;
  /// How many vectors at once a search for the leading pair multiplies.
  [[nodiscard]] virtual Index fast_width() const = 0;
  /// out = M block for a shard's rows, both row-major with `width` columns.
  virtual void apply_block_shard(int shard, const Real* m, const double* block, Index width, double* out) const = 0;
  /// v in the order `column_order_`.
  virtual double move_shard(int shard, const double* u, const Real* v, double t) = 0;
  /// target <- u v' at entries [from, to).
  virtual void sample_entries(Offset from, Offset to, const double* u, const double* v, Real* target) const = 0;
  /// x <- the entries of `factors` in a shard.
  virtual void load_shard(int shard, const LowRankMatrix& factors, Real* x) const = 0;
  /// out <- diag(u) m diag(v) for a shard's entries.
  virtual void scale_shard(int shard, const Real* m, const double* u, const double* v, Real* out) const = 0;
  /// The sum of squares of that.
  virtual double scaled_square(int shard, const Real* m, const double* u, const double* v) const = 0;
  /// x <- scale * left right' at entries [from, to), which are whole rows where the data are dense.
  virtual void factor_entries(Offset from, Offset to, const Factors& at, Real scale, Real* x) const = 0;
  /// left += M right for the rows of those entries, right += M' left, with slopes m of entries [from, to).
  virtual void factor_products(Offset from, Offset to, const Real* m, const Factors& at, Real* left,
                               Real* right) const = 0;
  /// How many entries `factor_entries` takes at once.
  [[nodiscard]] virtual Offset factor_block() const = 0;
  /// Where the entries of a row begin.
  [[nodiscard]] virtual Offset row_begin(Index row) const = 0;
  /// The small Gram matrix M'M or MM' of the entry part (whichever side is shorter), in double.
  virtual void gram(const Real* m, bool of_columns, Eigen::MatrixXd& out) const = 0;
  /// What it costs, in passes.
  [[nodiscard]] virtual double gram_passes(bool of_columns) const = 0;

  /// Derived constructors call this once their arrays are in place; `begin` says where rows begin, null when all are
  /// equally long.
  void start(kernels::Mode mode, const Real* value, const Real* weight, const Offset* begin);

  [[nodiscard]] int shards() const { return static_cast<int>(cuts_.size()) - 1; }
  [[nodiscard]] Offset shard_begin(int shard) const { return row_begin(cuts_[static_cast<std::size_t>(shard)]); }
  [[nodiscard]] kernels::EntryRange range(Offset from, Offset to, Real* slope) const;
  [[nodiscard]] kernels::EntryRange range(int shard, Real* slope) const {
    return range(shard_begin(shard), shard_begin(shard + 1), slope);
  }

  const Problem& problem_;
  Index rows_;
  Index cols_;
  double radius_;
  double lambda_;
  kernels::Mode mode_ = kernels::Mode::observed;
  const Real* value_ = nullptr;
  const Real* weight_ = nullptr;
  kernels::CodedData coded_;         // the data in one byte each, where that is possible
  std::vector<Index> column_order_;  // the columns as kernels in Real number them; empty: as everybody else does
  std::vector<Index> cuts_;          // rows of shard s: [cuts_[s], cuts_[s+1])
  std::vector<Index> factor_cuts_;  // the same for products with factors: fewer, since each writes an output of its own
  std::vector<Real> x_;             // the iterate at the entries
  std::vector<Real> slope_;
  std::vector<Real> average_;     // empty until averages are used
  std::vector<Real> average_x_;   // beside it with a complement penalty
  std::vector<Real> certified_;   // with a complement penalty: the entry part of the dual point made from the average
  std::vector<Real> loss_shift_;  // of the loss's kinks, in widths; empty: none
  std::vector<Real> penalty_shift_;  // and of an l1 penalty's
  std::vector<Real> target_;         // entries of a target that is no atom

 private:
  [[nodiscard]] bool has_low_rank_part() const { return mode_ == kernels::Mode::observed_complement; }
  /// out = M v or M' u of the entry part alone.
  void apply_entries(Slopes which, ConstVector v, Vector& product);
  /// The vector times the row or column scale, where there is one.
  const double* times_scale(ConstVector v, const Vector& scale);
  void apply_entries_transpose(Slopes which, ConstVector u, Vector& out);
  /// The same with the low-rank part 2 lambda X where there is one.
  void apply(Slopes which, ConstVector v, Vector& product);
  void apply_transpose(Slopes which, ConstVector u, Vector& out);
  /// out = M' M v in one pass.
  void normal(Slopes which, ConstVector v, Vector& out);
  /// The same to a few digits, at the speed of memory, for a block of vectors in the order of the kernels in Real: out
  /// = M'M v / size^2, and product = M v / size.
  void normal_fast(Slopes which, double size, const RealBlock& v, RealBlock& out, RealBlock& product);
  /// Its parts: what the rows' products need, and what is left to do when all rows are done.
  kernels::RowTerms<Real> begin_fast(double size, const RealBlock& v, RealBlock& product);
  void end_fast(double size, RealBlock& out, const RealBlock& product);
  /// A bound of |M|_F: with it, nothing above can leave the range of Real.
  [[nodiscard]] double fast_size(Slopes which) const;
  /// The leading pair by products in Real; sets the atom's vectors, not normalised.
  void find_fast(const OracleAccuracy& accuracy);
  /// The same in double.
  void find_exactly(const OracleAccuracy& accuracy);
  /// work(first row, last row) for blocks of rows of a shard whose slopes fit into the second cache.
  template <class Work>
  void for_row_blocks(int shard, Work&& work) const;
  /// work(block, first, last) for blocks of the held-out entries, possibly at once.
  template <class Work>
  void for_watched_blocks(Work&& work) const;
  /// The low-rank part of M is about to change, and with it M v.
  void forget_first_product() {
    if (first_product_ == FirstProduct::ready) first_product_ = FirstProduct::wanted;
  }
  /// The start of the next search, from what the last one found; a block of `width` vectors.
  void draw_start(RealBlock& block, Index width);
  /// The place of the j-th number of vectors as kernels in Real take them.
  [[nodiscard]] Index natural(Index j) const {
    return column_order_.empty() ? j : column_order_[static_cast<std::size_t>(j)];
  }
  /// work(first column, number of columns), possibly at once.
  template <class Work>
  void for_column_blocks(Work&& work) {
    const int blocks = (cols_ + kColumnBlock - 1) / kColumnBlock;
    for_each_shard(blocks, [&](int b) {
      const Index from = b * kColumnBlock;
      work(from, std::min(kColumnBlock, cols_ - from));
    });
  }
  void add_shard_outputs(double* out);
  /// out += 2 lambda X v and out += 2 lambda X' u.
  void add_low_rank(ConstVector v, Vector& out);
  void add_low_rank_transpose(ConstVector u, Vector& out);
  /// Sums along the segment to the target over all entries; with a width, derivatives of the smoothed objective alone.
  kernels::SegmentSums sum_segment(std::span<const double> t, std::optional<double> width);
  /// Once for a target that is a matrix; an atom is sampled where it is met.
  void sample_matrix();
  /// Where the target's norm and inner product with the iterate are needed.
  struct TargetProducts {
    double inner;
    double square;
  };
  [[nodiscard]] TargetProducts target_products() const;
  /// What a complement penalty adds off the pattern, where there is one.
  [[nodiscard]] SegmentPoint off_pattern(const TargetProducts& products, double t, double square,
                                         double square_derivative) const;
  double move_to_matrix(double t);
  /// products <- (M right, M' left), M's entries as `slopes_of(shard, from, to)` makes them.
  template <class SlopesOf>
  void sum_factor_products(const Factors& at, Factors& products, SlopesOf&& slopes_of);
  /// Rows of both factors times row and column scale, where there are such.
  void balance(Factors& factors) const;
  /// The factors of X from those of Z.
  [[nodiscard]] const Factors& data_factors(const Factors& z);
  /// u' X v.
  [[nodiscard]] double iterate_inner(const Vector& u, const Vector& v) const;
  /// A rank-drop step makes X+ = c (X - left right') at the entries, with left = U x, right = V x, x = S^(1/2) q.
  struct DroppedTerm {
    Vector x;
    Vector left;
    Vector right;
  };
  DroppedTerm dropped_term(const RankDropStep& step);
  /// target_ <- the entries after a rank-drop step; returns |X|_F^2 after it.
  double sample_drop(const RankDropStep& step);
  void add_noise(Vector& v, double size);
  /// Makes the entries, the norm and the held-out values agree with the factors.
  void load_iterate();
  double stored_conjugate_sum(std::vector<Real>& slope, kernels::Mode mode, double* square);
  /// sum of squares of the unobserved entries of X, for the complement penalty.
  [[nodiscard]] double complement_square(double observed_square) const;
  template <class Work>
  double sum_over_shards(Work&& work) {
    for_each_shard(shards(), [&](int s) { shard_values_[static_cast<std::size_t>(s)] = work(s); });
    double sum = 0;
    for (const double value : shard_values_) sum += value;
    return sum;
  }
  [[nodiscard]] bool weighted_norm() const { return row_scale_.size() > 0; }
  /// The sum of squares of the slopes of Z that belong to slopes of X.
  double balanced_square(Slopes which);
  /// A copy of those slopes.
  [[nodiscard]] std::vector<Real> balanced(Slopes which);
  /// X from Z, not compressed: whoever samples entries needs no orthogonal factors.
  [[nodiscard]] LowRankMatrix scaled_to_data(LowRankMatrix z) const;
  /// Slopes of r, which are those of entries from `from` on, are taken where the shifts of the kinks say; the buffers
  /// hold the places.
  struct ShiftedPlaces {
    std::vector<Real> loss;
    std::vector<Real> penalty;
  };
  void shift(kernels::EntryRange& r, Offset from, double width, ShiftedPlaces& places) const;
  void refresh_iterate();
  void count_pass(double passes = 1) { counters_.passes += passes; }
  [[nodiscard]] double rounding_margin(double square) const;
  SpectralBound dense_bound(Slopes which, bool of_columns, bool exact, double passes);
  SpectralBound lanczos_bound(Slopes which, int steps);

  /// The factors are about to be rewritten: what is remembered of them becomes a copy.
  void keep_remembered();

  LowRankMatrix iterate_;                    // stale while thin_ is in use, until somebody asks for it
  std::optional<LowRankMatrix> remembered_;  // a copy, or
  Vector remembered_values_;                 // the values of the first so many terms of the iterate
  std::optional<ThinSvd> thin_;
  bool iterate_stale_ = false;
  double square_norm_ = 0;      // |X|_F^2 from the factors
  double observed_square_ = 0;  // sum of x^2 at the entries when last linearized
  double slope_square_ = 0;     // sum of squares of the stored slopes, current
  double average_square_ = 0;   // and average
  double data_scale_ = 1;
  Atom const* aimed_ = nullptr;                  // the target is this atom
  LowRankMatrix const* aimed_matrix_ = nullptr;  // or this matrix
  Vector aimed_left_;                            // the target as it meets the entries: weight * row scale * left
  Vector aimed_right_;                           // and column scale * right
  Vector row_scale_;                             // X = diag(row_scale) Z diag(col_scale); empty with a plain trace norm
  Vector col_scale_;
  RealVector fast_row_scale_;
  RealVector fast_col_scale_;  // in the order of the kernels in Real
  double largest_scale_ = 1;   // of an entry
  Vector scaled_;              // a vector times row or column scale
  bool matrix_sampled_ = false;

  Random random_;
  LeadingAtom leading_;
  // The first product of a search rides along with the pass that makes the slopes: its vectors are known by then.
  enum class FirstProduct { unwanted, wanted, ready };
  FirstProduct first_product_ = FirstProduct::unwanted;
  double first_size_ = 1;
  RealBlock first_out_;
  RealBlock start_;          // of the next search
  RealBlock average_start_;  // of the next one for the average's norm
  BlockKrylov krylov_;
  BlockKrylov average_krylov_;
  LanczosWorkspace lanczos_;
  LanczosValueWorkspace bound_lanczos_;
  Eigen::MatrixXd shard_outputs_;                  // cols x shards
  RealMatrix fast_outputs_;                        // the same in Real, for blocks of vectors
  std::vector<std::vector<Real>> factor_outputs_;  // cols x width, one for each shard
  Factors scaled_factors_;
  RealVector fast_v_;     // the target's right side for moves
  RealBlock fast_block_;  // a block as the kernels take it
  RealBlock fast_shift_;
  std::vector<RealBlock> row_products_;  // M times each block of a search, so that M times the answer needs no pass
  RealBlock average_product_;
  Vector low_rank_shift_;
  Vector row_product_;
  Vector coefficients_;
  std::vector<kernels::EntrySums> entry_sums_;
  std::vector<double> shard_values_;

  const Entries* watched_ = nullptr;
  std::vector<Real> watched_x_;
  mutable std::vector<HeldOutError> watched_errors_;  // sums by block
  Counters counters_;
};

}  // namespace tracenorm
