// Problems of every kind that the library solves, made of a seed.
#pragma once

#include <cstdint>
#include <string>

#include "tracenorm/solve.hpp"
#include "tracenorm/verify.hpp"

namespace tracenorm::campaign {

struct RandomProblem {
  Problem problem;
  Preparation preparation;
  GivenData raw;  ///< what the problem was prepared from
  LowRankMatrix start;
  std::string name;          ///< what it is, for reports
  bool well_scaled = false;  ///< numbers near 1, no offset: small gaps should be proved
};

RandomProblem random_problem(std::uint64_t seed);

}  // namespace tracenorm::campaign
