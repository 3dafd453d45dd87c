// Cutting entries into a training, a validation and a test part.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tracenorm/observations.hpp"

namespace tracenorm {

/// Held out to choose settings on, where no validation entries were given.
inline constexpr double kChoosingShare = 0.1;

struct Shares {
  double train = 1;
  double validation = 0;
  double test = 0;
};

struct Split {
  Entries train;
  Entries validation;
  Entries test;
  std::vector<Real> train_weight;
  std::vector<Real> validation_weight;
  /// Of entries that were dealt out: the training ones are, validation and test entries are those of all ranks.
  std::optional<DealtEntries> dealt{};
};

/// Random parts of exactly the asked sizes (up to rounding); the entries keep their order within a part. Weights are
/// empty, or one per entry. Zero threads means all cores, as in RunOptions.
Split split_entries(Entries entries, const Shares& shares, std::uint64_t seed, std::vector<Real> weight = {},
                    int threads = 0);
/// The same of entries that are dealt out to ranks.
Split split_entries(Entries entries, DealtEntries dealt, const Shares& shares, std::uint64_t seed,
                    std::vector<Real> weight, int threads);

}  // namespace tracenorm
