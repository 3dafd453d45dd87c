// How good lists of recommendations are: each row's unseen columns ranked by prediction, judged by its held-out
// entries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/execution.hpp"
#include "tracenorm/model.hpp"

namespace tracenorm::report {

/// Means over the rows that have at least one relevant held-out entry.
struct TopMeasures {
  int top = 0;
  double relevant_from = 0;  ///< a held-out entry is relevant when its value is at least this
  Offset rows = 0;           ///< how many rows were judged
  double precision = 0;      ///< relevant ones among the first `top`
  double recall = 0;         ///< share of a row's relevant ones that are among the first `top`
  double ndcg = 0;           ///< discounted gain, 1 when the relevant ones come first
  double hit_rate = 0;       ///< share of rows with at least one relevant one among the first `top`
  double mrr = 0;            ///< one over the place of the first relevant one; 0 beyond `top`
  double coverage = 0;       ///< share of all columns that are on at least one list
};

/// The model's predictions at these places.
void predict(const Model& model, std::span<const std::int64_t> rows, std::span<const std::int64_t> cols,
             std::span<double> out, const Execution& execution);

/// The model's prediction of every column for a row, not clipped: what is clipped has lost its order. Without a row it
/// is what the column offsets say.
std::vector<double> row_predictions(const Model& model, std::optional<Index> row);

/// The columns with the largest predictions, best first, ties by index. `left_out` is ascending.
std::vector<Index> best_columns(const std::vector<double>& predictions, const std::vector<Index>& left_out,
                                std::size_t top);

/// Columns a row has in `train` are not candidates. NaN measures when no row can be judged.
TopMeasures top_measures(const Model& model, const Entries& train, const Entries& test, int top, double relevant_from,
                         const Execution& execution);

}  // namespace tracenorm::report
