// GLRL: greedy low-rank learning (Yao and Kwok 2016), our reading of it (docs/methods.md): steps along the truncated
// singular value decomposition of a subgradient, two exact coefficients per step, truncated to a given rank.
#pragma once

#include <string_view>

#include "tracenorm/field.hpp"

namespace tracenorm::methods {

struct Glrl {
  int rank = 10;            ///< of the solution
  int block = 30;           ///< at most this many singular vectors of the subgradient per step
  double tolerance = 1e-4;  ///< stop when the objective falls by less than this share

  static constexpr std::string_view name = "glrl";
  static constexpr bool bounded = false;
  static const std::array<Field<Glrl>, 3> fields;
};

inline constexpr std::array<Field<Glrl>, 3> Glrl::fields{
    {{"rank", &Glrl::rank, 1, 1e6, "rank of the solution"},
     {"block", &Glrl::block, 1, 1e6, "singular vectors of the subgradient per step, at most"},
     {"tolerance", &Glrl::tolerance, 0.0, 1.0, "relative decrease of the objective at which to stop"}}};

}  // namespace tracenorm::methods
