// Widths of intervals, and the scores they are taken by.
#pragma once

#include <vector>

#include "base/execution.hpp"
#include "tracenorm/model.hpp"

namespace tracenorm {

/// Predictions of a model at entries.
struct Judged {
  const Entries& entries;      ///< in raw units
  std::vector<double> fitted;  ///< predictions there
};

/// How much wider than their own residuals say the intervals of rows must be, by the number of entries they have: rows
/// of few entries are followed more closely than they can be predicted.
struct WidthCorrection {
  std::vector<Offset> most;    ///< of each bin, ascending; more than the last belong to the last
  std::vector<double> factor;  ///< of each bin
};

/// Widths from the absolute residuals of the entries that the model was fitted to: the mean one of each row and column,
/// drawn to the mean of all where entries are few.
Spread widths(const SparseObservations& data, const std::vector<Real>& errors, const Execution& execution);
/// From predictions of held-out entries.
WidthCorrection correction(const Spread& widths, const Judged& held_out, const std::vector<Offset>& row_counts);
void correct(Spread& widths, const WidthCorrection& correction, const std::vector<Offset>& row_counts);
/// |error| / width of held-out entries, ascending.
std::vector<double> scores(const Spread& widths, const Judged& held_out);

}  // namespace tracenorm
