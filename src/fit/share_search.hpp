// Large data: settings are searched for on a random share of the rows, carried over to all rows, and adjusted there.
#pragma once

#include <optional>

#include "fit/settings_search.hpp"

namespace tracenorm {

struct LargeFindings {
  FoundSettings found;
  std::optional<SearchedShare> share;  ///< empty: all rows were searched
};

/// Settings for `part`, which has all rows. Of the share's entries a tenth is held out to judge on; the radius found
/// there grows with the root of the number of rows; vectors and offsets of columns stay, those of rows are what a row's
/// own entries make of them. Then larger radii are tried on all rows, judged on `held_out`. Where a share would have
/// too few rows, or one row far longer than the others, all rows are searched.
LargeFindings search_large(const FitOptions& options, const PartOfData& part, const Entries& held_out,
                           const RunHooks& hooks);

}  // namespace tracenorm
