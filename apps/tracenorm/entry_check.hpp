// The library knows entries by index; a user knows them by name.
#pragma once

#include <string>

#include "tracenorm/model.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm::app {

/// Throws an input error that names the file, the row and the column of the first value the loss does not accept.
void check_entries(const Problem& problem, const Labels& rows, const Labels& cols, const std::string& file);

}  // namespace tracenorm::app
