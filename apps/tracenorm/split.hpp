// Cutting entries into a training, a validation and a test part.
#pragma once

#include <cstdint>
#include <string>

#include "tracenorm/observations.hpp"

namespace tracenorm::app {

struct Shares {
  double train = 1;
  double validation = 0;
  double test = 0;
};

/// "0.5,0.25,0.25" or "50,25,25". Throws a usage error that says what is wrong.
Shares parse_shares(const std::string& text);

struct Split {
  Entries train;
  Entries validation;
  Entries test;
};

/// Random parts of exactly the asked sizes (up to rounding); the entries keep their order within a part. An input error
/// when a part that was asked for stays empty.
Split split_entries(Entries entries, const Shares& shares, std::uint64_t seed);

}  // namespace tracenorm::app
