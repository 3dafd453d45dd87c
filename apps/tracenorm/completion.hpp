// What `complete` and `evaluate` share: the options of a completion problem, and the way from a file to its data.
#pragma once

#include <optional>
#include <string>

#include "estimation.hpp"

namespace tracenorm::app {

struct CompletionOptions {
  EstimationOptions common;
  std::vector<std::string> words;  ///< what was given for data
  std::vector<std::string> files;  ///< and which files these are
  double complement = 0;
  std::string weights;  ///< a file; empty: all one
};

/// Those of `complete` and `evaluate`, all others of an estimation among them.
void add_completion_options(CLI::App& app, CompletionOptions& options);

/// Which files the data are, and everything that can be said before any data are read; `inputs` are further files.
/// Throws a usage error where options do not go together.
void settle(CompletionOptions& options, const std::vector<std::string>& inputs);

/// The entries of all files, with the names that came with them.
struct CompletionData {
  io::NamedEntries table;               ///< without its entries
  std::optional<Entries> weights;       ///< one per entry of the data, in any order
  std::optional<DealtEntries> dealt{};  ///< where this rank has the entries of some rows alone
};
/// Reads the data, and sees to it that the loss accepts them. Ranks may read them in parts where the caller can do with
/// that, and where nothing that was asked for needs all of them in one place.
CompletionData read_completion(const CompletionOptions& options, Entries& entries, bool may_deal = false);

/// What `fit` takes: the entries with their weights.
FitData fit_data(const CompletionOptions& options, const CompletionData& data, Entries train, Entries validation,
                 std::optional<DealtEntries> dealt = {});

}  // namespace tracenorm::app
