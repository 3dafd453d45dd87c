// The arrays of each kind of file, by the numbers that fuzzed archives call them (packed.hpp).
#pragma once

#include <string>
#include <vector>

#include "small_run.hpp"

namespace tracenorm::fuzz {

using Names = std::vector<std::string>;

inline const Names& scipy_names() {
  static const Names names{"format", "shape", "data", "indices", "indptr", "row", "col"};
  return names;
}

inline const Names& model_names() {
  static const Names names{"schema",
                           "left",
                           "values",
                           "right",
                           "row_names",
                           "col_names",
                           "row_base",
                           "col_base",
                           "preparation",
                           "offset",
                           "scale",
                           "row_offset",
                           "col_offset",
                           "range",
                           "row_price",
                           "predictor_values",
                           "predictor_row_offset",
                           "predictor_col_offset",
                           "row_width",
                           "col_width",
                           "unknown_width",
                           "interval_scores",
                           "metadata",
                           "row_names_utf8",
                           "row_names_ends"};
  return names;
}

inline const Names& certificate_names() {
  static const Names names{"schema",         "statement",        "row_begin",       "col",          "slope",
                           "elsewhere_left", "elsewhere_values", "elsewhere_right", "row_weight",   "col_weight",
                           "row_offset",     "col_offset",       "replaced_row",    "replaced_col", "replaced_value",
                           "row_ridge",      "col_ridge",        "row_shift",       "col_shift"};
  return names;
}

inline const Names& checkpoint_names() {
  static const Names names = [] {
    Names all{"checkpoint_schema", "contents"};
    for (const auto& [name, matrix] : small_checkpoint().current.numbers) all.push_back("current/" + name);
    for (const auto& [name, entries] : small_checkpoint().current.entries) all.push_back("current/entries/" + name);
    return all;
  }();
  return names;
}

}  // namespace tracenorm::fuzz
