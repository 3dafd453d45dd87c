// Fitting X together with offsets of rows and columns, and finding what predicts best: radius, loss, gain, and offsets
// that go with the gain.
#pragma once

#include "tracenorm/fit.hpp"

namespace tracenorm {

/// Whether the loss asks for the middle of what is likely, as offsets, gains and scores of such a fit do.
bool asks_for_the_middle(const std::optional<Loss>& loss);

/// Whether offsets are to be fitted together with X: both sides have them, and method and penalty allow it.
bool fits_offsets(const FitOptions& options);

/// Whether the settings of such a fit are searched for on a share of the rows: they are all to be chosen, on entries
/// that are held out here, and there are very many.
bool searches_share(const FitData& data, const FitOptions& options);

/// A fit of this kind. Options must be settled.
Fit fit_completion(FitData data, const FitOptions& options, const RunHooks& hooks);

}  // namespace tracenorm
