// What nobody has said of a completion (radius, loss, how offsets are fitted) is chosen on held-out entries.
#pragma once

#include <vector>

#include "fit/part_of_data.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm {

/// What is chosen, and the answer it was chosen with.
struct Settings {
  double radius = 0;
  Loss loss;
  int turns = 0;
  bool offsets_before = false;  ///< they stay as they were fitted before X, with gross outliers left out
  Refit refit{};
  LowRankMatrix x{};
  SideOffsets offsets{};

  [[nodiscard]] Settings without_x() const { return {radius, loss, turns, offsets_before, refit, {}, offsets}; }
};

/// What was tried, in order, and what is taken.
struct FoundSettings {
  Settings settings;
  std::vector<RadiusStep> steps;
  std::size_t best = 0;  ///< among the steps
};

/// Tries settings on a part of the data, and judges them on entries in raw units that are not in it.
FoundSettings search_settings(const FitOptions& options, const PartOfData& part, const Entries& held_out,
                              const RunHooks& hooks);

/// Settings that smaller data had, and the same at larger radii while those are better; each from the X of the one
/// before.
FoundSettings enlarge_radius(const FitOptions& options, const PartOfData& part, Settings settings,
                             const Entries& held_out, const RunHooks& hooks);

/// The offsets that go with the predictions of `x`, or `ahead` times as far from those of now.
SideOffsets turned(const PartOfData& part, const LowRankMatrix& x, const Settings& now, double ahead);

/// The offsets at entries, added up.
std::vector<double> bases(const SideOffsets& offsets, const Entries& entries, const Execution& execution);

}  // namespace tracenorm
