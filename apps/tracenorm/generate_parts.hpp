// Problems of completion as large as one likes, in files that ranks and threads write side by side.
#pragma once

#include <cstdint>
#include <string>

#include "tracenorm/types.hpp"

namespace tracenorm::app {

struct PartsProblem {
  Index rows;
  Index cols;
  Index rank;
  double observed;  ///< the probability of each entry
  double outliers;  ///< of each observed one
  double noise;
  std::uint64_t seed;
};

struct PartsFacts {
  Offset observed = 0;
  Offset outliers = 0;
  double trace_norm = 0;  ///< of the truth
};

/// Writes part-000000.tsv, ... of about equally many rows into a new folder. Each row has random numbers of its own, so
/// that the lines of all files together depend neither on the number of files nor on that of ranks and threads.
PartsFacts write_parts(const std::string& folder, const PartsProblem& problem, int parts);

}  // namespace tracenorm::app
