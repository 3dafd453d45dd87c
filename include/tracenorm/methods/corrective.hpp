// Frank-Wolfe steps that bring new directions, and a descent over the factors that makes the best of those there are:
// for small certified gaps. Its iterations are few and long.
#pragma once

#include <array>
#include <string_view>

#include "tracenorm/field.hpp"

namespace tracenorm::methods {

struct Corrective {
  int directions =
      16;  ///< directions that a Frank-Wolfe step brings beside its atom; half the number of terms once that is more
  int steps = 20;           ///< descent steps on the factors per iteration, at most
  double tolerance = 1e-3;  ///< the certified relative gap to stop at when the run asks for none

  static constexpr std::string_view name = "corrective";
  static constexpr bool bounded = true;
  static const std::array<Field<Corrective>, 3> fields;
};

inline constexpr std::array<Field<Corrective>, 3> Corrective::fields{
    {{"directions", &Corrective::directions, 1, 1e4,
      "new directions beside the atom of a Frank-Wolfe step; half the terms of X once that is more"},
     {"steps", &Corrective::steps, 0, 1e6, "descent steps on the factors per iteration, at most"},
     {"tolerance", &Corrective::tolerance, 0, 1, "certified relative gap to stop at when none is asked for"}}};

}  // namespace tracenorm::methods
