// The data: a sparse pattern with values (unstored = missing, a stored zero is data), or a full matrix with holes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tracenorm/array.hpp"
#include "tracenorm/dense_values.hpp"
#include "tracenorm/ranks.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {

/// A list of (row, column, value): what files hold, what is held out, what is predicted.
struct Entries {
  std::vector<Index> row;
  std::vector<Index> col;
  std::vector<Real> value;
  [[nodiscard]] Offset size() const { return static_cast<Offset>(row.size()); }
};

/// The columns of entries, kept in 32 or in 16 bits each.
class Columns {
 public:
  Columns() = default;
  Columns(Array<Index> wide) : wide_(std::move(wide)) {}             // implicit
  Columns(Array<ShortIndex> narrow) : narrow_(std::move(narrow)) {}  // implicit
  Columns(std::vector<Index> wide) : Columns(Array<Index>(std::move(wide))) {}
  Columns(std::initializer_list<Index> wide) : Columns(Array<Index>(wide)) {}

  [[nodiscard]] std::size_t size() const { return wide_.size() + narrow_.size(); }
  [[nodiscard]] Index operator[](Offset entry) const {
    const auto e = static_cast<std::size_t>(entry);
    return narrow_.empty() ? wide_[e] : static_cast<Index>(narrow_[e]);
  }
  /// Those of entries [first, last), which are not copied.
  [[nodiscard]] Columns slice(Offset first, Offset last) const {
    return narrow_.empty() ? Columns(wide_.slice(first, last)) : Columns(narrow_.slice(first, last));
  }
  /// work(pointer to the columns as they are kept).
  template <class Work>
  decltype(auto) visit(Work&& work) const {
    return narrow_.empty() ? work(wide_.data()) : work(narrow_.data());
  }

 private:
  Array<Index> wide_;
  Array<ShortIndex> narrow_;
};

/// Which entries are observed: compressed rows, columns ascending within a row. Immutable once made.
class SparsePattern {
 public:
  SparsePattern() = default;
  /// Checks that `begin` and `col` are a valid pattern; throws an input error otherwise.
  SparsePattern(Index rows, Index cols, Array<Offset> begin, Columns col);
  /// Of arrays that are known to be valid: nobody looks at them.
  static SparsePattern unchecked(Index rows, Index cols, Array<Offset> begin, Columns col);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Offset entries() const { return static_cast<Offset>(col_.size()); }
  [[nodiscard]] const Offset* begin() const { return begin_.data(); }  ///< rows() + 1 offsets
  [[nodiscard]] const Columns& col() const { return col_; }            ///< entries() columns
  [[nodiscard]] Offset find(Index row, Index col) const;               ///< which entry it is; -1: none

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Array<Offset> begin_{0};
  Columns col_;
};

class SharedRows;

struct SparseObservations {
  SparsePattern pattern;
  Array<Real> value;   ///< one per entry of the pattern
  Array<Real> weight;  ///< empty (all one) or one positive weight per entry
  /// Where ranks share the rows: what this one knows of the others', and the pattern then has its own alone. What is
  /// said of such data below is said of all rows, and may be asked by all ranks at once only.
  std::shared_ptr<const SharedRows> shared{};
};

/// Entries of rows that one rank has, and where they stand among those of all ranks.
struct DealtEntries {
  Ranks* ranks = nullptr;
  Index first = 0;  ///< rows [first, last) are here
  Index last = 0;
  std::vector<Offset> place{};  ///< of each entry, ascending
  Offset all = 0;               ///< how many there are in all
};

struct DenseObservations {
  Index rows = 0;
  Index cols = 0;
  DenseValues value;   ///< row-major; NaN marks a missing entry
  Array<Real> weight;  ///< empty, or one positive weight per entry
};

using Observations = std::variant<SparseObservations, DenseObservations>;

/// Sorts entries into rows; columns are kept in 16 bits where that is enough. Throws an input error on an index out of
/// range or an entry given twice. Zero threads means all cores, as in RunOptions.
SparseObservations make_sparse(Index rows, Index cols, const Entries& entries, const std::vector<Real>& weight = {},
                               int threads = 0);

/// The entries of both, which must be of the same size and have none in common. Both have weights, or neither.
SparseObservations unite(const SparseObservations& a, const SparseObservations& b, int threads = 0);

/// Where the data are not symmetric, in one sentence; empty: they are. Values and weights at (i, j) and (j, i) must be
/// the same numbers, and one of the two missing where the other is.
std::string asymmetry(const Observations& observations);
/// Square data made symmetric: the mean of two values that differ, or the one there is. Weights are averaged likewise.
Observations symmetrized(const Observations& observations);

/// The same data as a full matrix with NaN for missing. Throws when rows * cols would not fit in `limit_bytes`.
DenseObservations make_dense(const SparseObservations& sparse, double limit_bytes = 16e9);

Index rows(const Observations& observations);
Index cols(const Observations& observations);
Offset observed(const Observations& observations);  ///< number of observed entries

/// How many entries of each row and of each column are observed.
struct Counts {
  std::vector<Offset> row;
  std::vector<Offset> col;
};
Counts count_observed(const Observations& observations, int threads = 0);

/// Tells data from other data, whoever holds them: a checksum of shape, places, values and weights.
std::uint64_t fingerprint(const Observations& observations);
std::uint64_t fingerprint(const Entries& entries);

}  // namespace tracenorm
