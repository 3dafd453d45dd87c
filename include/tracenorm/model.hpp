// A solution together with everything a prediction needs: names of rows and columns, and how to undo the preparation.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
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

struct Model {
  LowRankMatrix factors;
  Labels rows;
  Labels cols;
  Preparation preparation;
  std::optional<Spread> spread{};  ///< how far predictions are off; empty: nothing was held out to know it from
  std::string metadata = "{}";  ///< JSON: method, loss, penalty, radius, objective, lower_bound, status, seed, version

  /// In the units of the raw data.
  [[nodiscard]] double predict(Index row, Index col) const {
    return preparation.undo(factors.entry(row, col), row, col);
  }
};

}  // namespace tracenorm
