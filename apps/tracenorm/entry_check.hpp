// The library knows entries by index; a user knows them by name.
#pragma once

#include <optional>
#include <string>

#include "tracenorm/loss.hpp"
#include "tracenorm/model.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm::app {

/// Throws an input error that names the file, the row and the column of the first value the loss does not accept: of
/// all ranks where these have parts of the entries, and then on one of them.
void check_entries(const Loss& loss, const Entries& entries, const Labels& rows, const Labels& cols,
                   const std::string& file, const std::optional<DealtEntries>& dealt = {});
/// The same for a full matrix, whose holes are NaN.
void check_entries(const Loss& loss, const DenseObservations& matrix, const Labels& rows, const Labels& cols,
                   const std::string& file);

}  // namespace tracenorm::app
