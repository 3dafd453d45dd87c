// A change of units fitted on training data, stored in the model and undone at prediction:
//   raw = offset + row offset + column offset + scale * prepared.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tracenorm/loss.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm {

/// The values that data can have: ratings from 1 to 5 are never 5.3.
struct ValueRange {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool bounded() const { return lower > -std::numeric_limits<double>::infinity(); }
  [[nodiscard]] double clip(double value) const { return value < lower ? lower : value > upper ? upper : value; }
};

struct Preparation {
  enum class Kind {
    none,
    center,   ///< less the mean
    zscore,   ///< less the mean, over the standard deviation
    rows,     ///< less an offset per row, over the standard deviation
    columns,  ///< less an offset per column, over the standard deviation
    both      ///< less an offset per row and one per column, over the standard deviation
  };
  Kind kind = Kind::none;
  double offset = 0.0;
  double scale = 1.0;
  std::vector<double> row_offset{};  ///< empty, or one per row; 0 for rows without data
  std::vector<double> col_offset{};  ///< empty, or one per column
  ValueRange range{};                ///< predictions are kept within it; unbounded: as they come

  /// A row or column without an index: one the training data did not have.
  static constexpr Index kUnknown = -1;

  /// The answer that knows nothing but the offsets: the best there is for an unknown row or column.
  [[nodiscard]] double base(Index row, Index col) const { return offset + at(row_offset, row) + at(col_offset, col); }
  [[nodiscard]] double apply(double raw, Index row, Index col) const { return (raw - base(row, col)) / scale; }
  /// In raw units, of an answer in prepared ones.
  [[nodiscard]] double undo(double answer, Index row, Index col) const { return base(row, col) + scale * answer; }
  /// What is predicted for an entry, in raw units; `answer` is 0 for an unknown row or column.
  /// (Lists are ranked by `undo`: what is clipped has lost its order.)
  [[nodiscard]] double predict(double answer, Index row, Index col) const { return range.clip(undo(answer, row, col)); }

 private:
  static double at(const std::vector<double>& offsets, Index index) {
    return index < 0 || offsets.empty() ? 0.0 : offsets[static_cast<std::size_t>(index)];
  }
};

Preparation::Kind parse_preparation(std::string_view text);
std::string to_string(Preparation::Kind kind);
/// Whether it has offsets per row or per column.
bool has_offsets(Preparation::Kind kind);

/// How means are taken: `means` of all values, or `robust` ones that leave gross outliers out.
enum class Averaging { means, robust };
/// Robust for losses whose slopes are bounded: an outlier must not enter by the offsets what the loss keeps out.
Averaging averaging_for(const Loss& loss);

/// Fits on a list of entries of a rows x cols matrix. `center` and `zscore` are the plain mean and standard deviation
/// (n - 1) whatever `averaging` says. Z-scores of data that are all equal are an input error. Zero threads means all
/// cores, as in RunOptions.
Preparation fit_preparation(Preparation::Kind kind, Averaging averaging, const Entries& entries, Index rows, Index cols,
                            int threads = 0);
Preparation fit_preparation(Preparation::Kind kind, Averaging averaging, const SparseObservations& data,
                            int threads = 0);
Preparation fit_preparation(Preparation::Kind kind, Averaging averaging, const DenseObservations& matrix);

void prepare(const Preparation& preparation, Entries& entries, int threads = 0);
void prepare(const Preparation& preparation, SparseObservations& data, int threads = 0);
void prepare(const Preparation& preparation, DenseObservations& matrix);

}  // namespace tracenorm
