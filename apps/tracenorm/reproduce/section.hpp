// The part of the page about one experiment, and the table that says which of the paper's comparisons hold.
#pragma once

#include <vector>

#include "page/page.hpp"
#include "reproduce/results.hpp"

namespace tracenorm::app {

/// Text, table with the paper's values, charts, pictures, protocol, commands.
std::vector<Block> experiment_section(const Experiment& experiment, const Results& results);

/// The measures of every case and method, the paper's beside ours.
Table results_table(const Experiment& experiment, const Results& results);

/// One row per comparison of the paper: what it says, what our runs say, whether the direction is the same.
void add_comparisons(const Experiment& experiment, const Results& results, Table& table);
Table comparison_table();

/// Convergence of every method in every case, measures as bars and against the size, pictures of patterns.
void add_charts(const Experiment& experiment, const Results& results, std::vector<Block>& blocks);

/// The figure of |x| and its approximations by widths 2/(k+2).
Chart component_functions(const Json& parameters);

/// Lower case letters, digits and hyphens only.
std::string to_id(const std::string& text);

}  // namespace tracenorm::app
