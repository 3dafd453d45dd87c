// A row that the training data did not have, from a few of its entries.
//
// With X = U S V' the optimum under a bound on the trace norm, every row of X solves a small problem of its own (the
// stationarity of the factors; docs/mathematics.md, "New rows"):
//   minimize over w   sum over its entries of loss(v_j w, y_j)  +  price / 2 * w' S^-1 w,
// where the price is the multiplier of the bound. A new row is what that problem says with V kept as it is: folding in
// the entries of a row of the training data gives that row again.
#pragma once

#include <vector>

#include "tracenorm/fit.hpp"
#include "tracenorm/model.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm {

struct NewRow {
  double offset = 0;           ///< of the row, in raw units; 0 where the model has no row offsets
  std::vector<double> weight;  ///< of the right singular vectors, in prepared units

  /// In raw units, within the model's range. `Preparation::kUnknown`: a column the model does not know.
  [[nodiscard]] double predict(const Model& model, Index col) const;
  /// Of every column, not clipped: what lists are ranked by.
  [[nodiscard]] std::vector<double> scores(const Model& model) const;
};

/// Solves the row's problem by ascent over the dual coordinates, for any of the losses, until the duality gap is below
/// a millionth. Values are in raw units; columns may be `Preparation::kUnknown` (then they tell about the offset only).
/// Penalties on entries are not looked at. An input error when the model does not know its price.
NewRow fold_in(const Model& model, const Loss& loss, const std::vector<Index>& cols, const std::vector<Real>& values);

/// The rows 0..rows-1 of a list of entries, several at once. Entries that the loss cannot take are an input error.
std::vector<NewRow> fold_in(const Model& model, const Loss& loss, const Entries& entries, Index rows, int threads = 0);

/// The variance of the row offsets, in prepared units: how large a new one may be expected to be. Of ranks each has the
/// offsets of its rows.
double row_offset_variance(const Preparation& preparation, Ranks* ranks = nullptr);
/// The rows 0..rows-1 of a list of entries, with that variance.
std::vector<NewRow> fold_in(const Model& model, const Loss& loss, const Entries& entries, Index rows, int threads,
                            double offset_variance);

/// The model with these rows as well, each at its place: instead of a row that is there, or after the last one. All
/// other predictions stay as they were, to the last bit: the right factor is kept, and the left one is no longer
/// orthogonal. Names of new rows are the caller's.
Model with_rows(Model model, const std::vector<NewRow>& rows, const std::vector<Index>& places);

/// What the rows of the training data paid: the multiplier for which they are stationary, taken together.
RowPrice row_price(const Fit& fit);

}  // namespace tracenorm
