// Kernels on plain pointers, one table of function pointers per instruction set.
//
// reference.cpp is the specification: simple loops, no tricks. linear.inc and fast.inc are compiled once per
// instruction set; the tests compare every table with the reference on awkward sizes. Each kernel works on one shard (a
// range of rows or of entries) and knows nothing of threads.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/sums.hpp"
#include "tracenorm/dense_values.hpp"
#include "tracenorm/loss.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::kernels {

/// Rows [first, last) of a sparse matrix in compressed rows.
template <class Column>
struct RowsOf {
  const Offset* begin;
  const Column* col;
  const Real* value;
  Index first;
  Index last;
};

/// Rows [first, last) of a full row-major matrix.
struct DenseRows {
  const Real* value;
  Index cols;
  Index first;
  Index last;
};

/// What the fused product does with each row's M v before it is used again. A factor is how the weights of a norm join
/// it, an addend how the low-rank part of a slope matrix does. Any of the three may be null.
template <class Work>
struct RowTerms {
  const Work* factor = nullptr;
  const Work* addend = nullptr;
  Work* product = nullptr;  ///< where factor * M v + addend is kept

  /// What M' is applied to: factor * (factor * M v + addend).
  TRACENORM_INLINE Work take(Index row, Work sum) const {
    if (factor) sum *= factor[row];
    if (addend) sum += addend[row];
    if (product) product[row] = sum;
    return factor ? factor[row] * sum : sum;
  }
};

/// How many vectors `normal_block` multiplies. They stand side by side, so that a row of them is one register.
inline constexpr Index kBlockColumns = 4;

/// Products of a sparse matrix, whose columns have 16 or 32 bits.
template <class Column>
struct SparseKernels {
  /// out += M' D (D M v + addend) with D the diagonal of the rows' factors. One pass.
  void (*normal)(const RowsOf<Column>& m, const double* v, const RowTerms<double>& rows, double* out);
  /// The same in Real throughout, for who needs a few digits only.
  void (*normal_fast)(const RowsOf<Column>& m, const Real* v, const RowTerms<Real>& rows, Real* out);
  /// The same for kBlockColumns vectors at once, addend and product likewise: what it costs is looking up the columns,
  /// and that is done once for all of them.
  void (*normal_block)(const RowsOf<Column>& m, const Real* v, const RowTerms<Real>& rows, Real* out);
  void (*apply)(const RowsOf<Column>& m, const double* v, double* product);
  void (*apply_transpose)(const RowsOf<Column>& m, const double* u, double* out);
  /// sums[i] += M v for each row i, and out += M' u, as one triangle of a symmetric matrix is met. `sums` may be `out`.
  void (*apply_both)(const RowsOf<Column>& m, const double* u, const double* v, double* sums, double* out);
  void (*apply_both_fast)(const RowsOf<Column>& m, const Real* u, const Real* v, Real* sums, Real* out);
  /// out = M block, block and out row-major with `width` columns.
  void (*apply_block)(const RowsOf<Column>& m, const double* block, Index width, double* out);
  /// x <- (1-t) x + t u v' on the pattern; returns max |x - u v'| before the move.
  double (*move)(const RowsOf<Column>& pattern, Real* x, const double* u, const Real* v, double t);
  /// x[e] = u' (row col[e] of `right`), for one row of a pattern; rows are `width` long, a multiple of kFactorStep.
  void (*factor_dots)(const Column* col, Offset count, const Real* u, const Real* right, Index width, Real* x);
  /// left += sum slope[e] (row col[e] of `right`), and row col[e] of `out` += slope[e] u: both products of one row of
  /// slopes.
  void (*factor_products)(const Column* col, const Real* slope, Offset count, const Real* u, const Real* right,
                          Index width, Real* left, Real* out);
};

/// A datum in one byte, value = offset + scale * code, for dense data of few values (labels, links, ratings).
struct CodedData {
  static constexpr std::int8_t kMissing = DenseValues::kMissing;
  const std::int8_t* code = nullptr;
  Real offset = 0;
  Real scale = 1;
  [[nodiscard]] Real at(Offset e) const {
    return code[e] == kMissing ? std::numeric_limits<Real>::quiet_NaN() : offset + scale * Real(code[e]);
  }
  /// Writes out the data of entries [0, count). A loop of its own: bytes and numbers in one loop make slow vector code.
  TRACENORM_INLINE void decode(Offset count, Real* __restrict y) const {
    const std::int8_t* from = code;
    const Real first = offset;
    const Real step = scale;
    for (Offset i = 0; i < count; ++i) {
      const Real value = first + step * Real(from[i]);
      y[i] = from[i] == kMissing ? std::numeric_limits<Real>::quiet_NaN() : value;
    }
  }
};

/// Linear work on entries, and nothing that depends on a loss.
struct LinearKernels {
  SparseKernels<Index> wide;
  SparseKernels<ShortIndex> narrow;
  template <class Column>
  [[nodiscard]] const SparseKernels<Column>& sparse() const {
    if constexpr (std::is_same_v<Column, Index>) {
      return wide;
    } else {
      return narrow;
    }
  }

  void (*dense_normal)(const DenseRows& m, const double* v, const RowTerms<double>& rows, double* out);
  void (*dense_normal_fast)(const DenseRows& m, const Real* v, const RowTerms<Real>& rows, Real* out);
  void (*dense_apply)(const DenseRows& m, const double* v, double* product);
  void (*dense_apply_transpose)(const DenseRows& m, const double* u, double* out);
  /// As SparseKernels::apply_both, but sums and out are apart; without `out` the sums alone.
  void (*dense_apply_both)(const DenseRows& m, const double* u, const double* v, double* sums, double* out);
  void (*dense_apply_both_fast)(const DenseRows& m, const Real* u, const Real* v, Real* sums, Real* out);
  void (*dense_apply_block)(const DenseRows& m, const double* block, Index width, double* out);
  /// As SparseKernels::move. With `mask` given, only entries whose mask is not NaN count for the returned maximum.
  double (*dense_move)(const DenseRows& x_rows, Real* x, const Real* mask, const double* u, const Real* v, double t);

  /// average <- (1-t) average + t m.
  void (*blend)(Real* average, const Real* m, Offset count, double t);

  /// y <- the numbers of so many codes.
  void (*decode)(const CodedData& data, Offset count, Real* y);
};

/// How penalty and missing entries enter an entry's function.
enum class Mode {
  observed,             ///< every entry is observed, no penalty (sparse data)
  observed_complement,  ///< sparse data with a squared penalty off the pattern: stored slope = loss slope - 2 lambda x
  masked,               ///< NaN data are missing and contribute nothing
  masked_l1,            ///< lambda |x| on all entries, loss where the datum is not NaN
  masked_complement,    ///< lambda x^2 where the datum is NaN, loss elsewhere
};
inline constexpr int kModes = 5;

/// A shard of entries: data, weights (null: all one), iterate, slopes.
struct EntryRange {
  const Real* y;
  const Real* w;
  const Real* x;
  Real* slope;
  Offset count;
  double lambda;
  CodedData coded{};  ///< the data for `linearize_coded`, which does not look at y
  /// Where the slopes of loss and penalty are taken, if not at x (EntryStore::shift_kinks).
  const Real* loss_x = nullptr;
  const Real* penalty_x = nullptr;
  [[nodiscard]] const Real* at_loss() const { return loss_x != nullptr ? loss_x : x; }
  [[nodiscard]] const Real* at_penalty() const { return penalty_x != nullptr ? penalty_x : x; }
};

/// The entrywise kernels of one loss in one mode.
template <class L>
struct LossKernels {
  EntrySums (*linearize)(const L& loss, const EntryRange& range, double width);            ///< without conjugates
  EntrySums (*linearize_conjugate)(const L& loss, const EntryRange& range, double width);  ///< with conjugates
  /// As `linearize`, from the data in one byte. Without weights and in masked modes only; null elsewhere.
  EntrySums (*linearize_coded)(const L& loss, const EntryRange& range, double width);
  double (*objective)(const L& loss, const EntryRange& range);
  /// Along x + t (target - x), for kSegmentPoints values of t.
  void (*segment)(const L& loss, const EntryRange& range, const Real* target, const double* t, SegmentSums& sums);
  /// The same without values, with derivatives from slopes of the given width.
  void (*smoothed_segment)(const L& loss, const EntryRange& range, const Real* target, const double* t, double width,
                           SegmentSums& sums);
};

enum class InstructionSet { reference, baseline, avx2, avx512 };
std::string_view to_string(InstructionSet set);

/// Whether this build has the kernels and this processor can run them.
bool available(InstructionSet set);
/// The best available one, unless TRACENORM_ISA in the environment names a lower one (baseline, avx2, avx512,
/// reference).
InstructionSet selected();
/// For tests: overrides the selection.
void select(InstructionSet set);

const LinearKernels& linear_kernels(InstructionSet set);
inline const LinearKernels& linear_kernels() { return linear_kernels(selected()); }

/// Weighted or not is decided once, outside the loops.
template <class L>
const LossKernels<L>& loss_kernels(InstructionSet set, Mode mode, bool weighted);
template <class L>
const LossKernels<L>& loss_kernels(Mode mode, bool weighted) {
  return loss_kernels<L>(selected(), mode, weighted);
}

}  // namespace tracenorm::kernels
