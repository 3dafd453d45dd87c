// What the two generators share.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "outputs.hpp"
#include "report/named_value.hpp"

namespace tracenorm::app {

struct GenerateOptions {
  std::string file;
  bool want_truth = false;
  std::string truth;  ///< empty: beside `file`
  std::string json;
  std::uint64_t seed = 1;
  bool quiet = false;

  /// FILE.npy -> FILE.truth.npy, unless a name was given; empty when no truth was asked for.
  [[nodiscard]] std::string truth_path() const;
  [[nodiscard]] OutputPaths outputs() const;
};

void add_generate_options(CLI::App& app, GenerateOptions& options, const std::string& file_type,
                          const std::string& truth_help);

/// Says what was made: a table on standard output and, if asked for, a JSON object.
void report_facts(const GenerateOptions& options, const std::vector<report::NamedValue>& facts);

}  // namespace tracenorm::app
