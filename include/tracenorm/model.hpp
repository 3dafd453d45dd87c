// A solution together with everything a prediction needs: names of rows and columns, and how to undo the preparation.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/preparation.hpp"
#include "tracenorm/spread.hpp"

namespace tracenorm {

/// The names of rows or columns, by index. Empty `names` mean the indices themselves, counted from `base`.
struct Labels {
  std::vector<std::string> names;
  int base = 0;

  [[nodiscard]] std::string name(Index index) const;
};

/// What the bound on the trace norm made the rows of the training data pay for their size, so that a new row can pay
/// the same (fold_in.hpp). A row of `count` entries pays multiplier / 2 * at(count) times its squared size.
struct RowPrice {
  double multiplier = 0;  ///< 0: not known, as in files of version 0.1
  double mean_count = 1;  ///< of the rows of the training data
  double power = 0;       ///< as in NormWeights
  double smoothing = 1;

  [[nodiscard]] double at(double count) const {
    return multiplier * std::pow((1 - smoothing) * count / mean_count + smoothing, 2 * power);
  }
};

/// What two readings of the same singular vectors differ in: singular values, and offsets in raw units.
struct Reading {
  std::vector<double> values{};
  std::vector<double> row_offset{};
  std::vector<double> col_offset{};
};

/// The same singular vectors with other values.
LowRankMatrix with_values(const LowRankMatrix& x, const std::vector<double>& values);

struct Model {
  LowRankMatrix factors;
  Labels rows;
  Labels cols;
  Preparation preparation;
  std::string metadata = "{}";  ///< JSON: method, loss, penalty, radius, objective, lower_bound, status, seed, version
  RowPrice row_price{};         ///< of rows that were not there
  std::optional<Reading> certified{};  ///< the answer of the run, where predictions are made with another reading of it
  std::optional<Spread> spread{};      ///< how far predictions are off; empty: nothing was held out to know it from

  /// In the units of the raw data. `Preparation::kUnknown` stands for a row or column the training data did not have.
  [[nodiscard]] double predict(Index row, Index col) const {
    return preparation.predict(row < 0 || col < 0 ? 0.0 : factors.entry(row, col), row, col);
  }
  /// Predicts by another reading from here on; the present one, which is what is certified, is kept beside it.
  void predict_by(Reading reading);
  /// The answer of the run, which is what is certified.
  [[nodiscard]] Model answer() const;
  /// The ends of an interval around a prediction that holds the entry with this probability. There must be a spread.
  [[nodiscard]] std::pair<double, double> interval(double level, double prediction, Index row, Index col) const {
    const double half = spread->half_width(level, row, col);
    return {preparation.range.clip(prediction - half), preparation.range.clip(prediction + half)};
  }
};

}  // namespace tracenorm
