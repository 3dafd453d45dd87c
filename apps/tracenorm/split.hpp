// --split: cutting the data into a training, a validation and a test part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fit/split.hpp"

namespace tracenorm::app {

/// "0.5,0.25,0.25" or "50,25,25". Throws a usage error that says what is wrong.
Shares parse_shares(const std::string& text);

/// Random parts (`dealt`: of what ranks have together); an input error when a part that was asked for stays empty.
Split split_data(Entries entries, std::optional<DealtEntries> dealt, const Shares& shares, std::uint64_t seed,
                 int threads);

}  // namespace tracenorm::app
