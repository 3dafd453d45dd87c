// How far predictions are from what is observed: split conformal prediction (Papadopoulos, Proedrou, Vovk and Gammerman
// 2002). Errors on held-out entries, each over a width made for its row and column, are kept; an interval of a level is
// a prediction plus and minus the width there times that quantile of them. If the entries to come are drawn as the held
// out ones were, it covers at least that share of them, whatever the model is worth.
#pragma once

#include <vector>

#include "tracenorm/types.hpp"

namespace tracenorm {

struct Spread {
  std::vector<double> row;     ///< a width per row, in raw units
  std::vector<double> col;     ///< a factor per column
  double unknown = 1;          ///< the width of a row that the model does not know
  std::vector<double> scores;  ///< |error| / width of held-out entries, ascending

  [[nodiscard]] double width(Index row_index, Index col_index) const;
  /// Half the length of the interval for an entry; infinite where too few scores are there for such a level. A negative
  /// index is a row or column that the model does not know.
  [[nodiscard]] double half_width(double level, Index row_index, Index col_index) const;
};

}  // namespace tracenorm
