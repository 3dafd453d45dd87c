// What `complete` and `evaluate` share: the options of a completion problem, and the way from entries to a problem.
#pragma once

#include <optional>
#include <string>

#include "estimation.hpp"
#include "split.hpp"

namespace tracenorm::app {

struct CompletionOptions {
  EstimationOptions common;
  double complement = 0;
  std::string weights;  ///< a file; empty: all one
};

void add_completion_options(CLI::App& app, CompletionOptions& options);

/// With a radius that chooses itself everything else that was not given is chosen too: a robust loss that is smooth
/// near zero, offsets of rows and columns, a weighted trace norm. With a radius that was given: the plain model of the
/// paper. Throws a usage error where options do not go together.
void settle(CompletionOptions& options);

/// The data of a completion problem, with the names that came with them.
struct CompletionData {
  io::NamedEntries table;          ///< without its entries
  std::optional<Entries> weights;  ///< one per entry of the data, in any order
};
CompletionData read_completion(const CompletionOptions& options, Entries& entries);

/// Fits the preparation to the training entries and makes the problem. Without validation entries and with a radius to
/// choose, a part of the training entries is held out to choose it on.
Estimation make_completion(const CompletionOptions& options, const CompletionData& data, Entries train,
                           Entries validation);

}  // namespace tracenorm::app
