// The observed entries of a claim, with their values from the data in the units of the problem.
#pragma once

#include <string>
#include <vector>

#include "tracenorm/verify.hpp"

namespace tracenorm::rigorous {

/// In the order of `claim.observed`.
struct Observed {
  std::vector<Real> value;
  std::vector<Real> weight;  ///< empty: all one
  Offset left_out = 0;       ///< entries of the data that the claim is not about
  std::string problem;       ///< why the data are not those of the claim; empty: they are

  [[nodiscard]] double weight_of(Offset entry) const {
    return weight.empty() ? 1.0 : static_cast<double>(weight[static_cast<std::size_t>(entry)]);
  }
  [[nodiscard]] double value_of(Offset entry) const {
    return static_cast<double>(value[static_cast<std::size_t>(entry)]);
  }
};

Observed observe(const Claim& claim, const GivenData& data);

}  // namespace tracenorm::rigorous
