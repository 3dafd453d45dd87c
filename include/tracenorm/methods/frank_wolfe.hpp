// The Frank-Wolfe family: one loop, six width rules, three step rules.
#pragma once

#include <string_view>

#include "tracenorm/width.hpp"

namespace tracenorm::methods {

enum class StepRule {
  open_loop,   ///< 2/(k+2), the paper's
  measured,    ///< 2/(k+d): the best first step is 2/d, so a radius far above the need does not waste the first steps
  line_search  ///< exact on the segment: the objective on a segment is a convex function of one variable
};

struct FrankWolfe {
  WidthRule width = BalancedWidth{};
  StepRule step = StepRule::measured;
  double oracle_tolerance = 0.3;  ///< of the leading singular pair at k = 0; tightens like 1/sqrt(k+1)
  int oracle_products = 6;  ///< at most this many products per pair (a block counts as two), or sqrt(k)/5 once more

  static constexpr bool bounded = true;
  static const std::array<Field<FrankWolfe>, 2> fields;
};

inline constexpr std::array<Field<FrankWolfe>, 2> FrankWolfe::fields{
    {{"oracle_tolerance", &FrankWolfe::oracle_tolerance, 1e-14, 1.0,
      "accuracy of the first leading singular pair; tightens with the iterations"},
     {"oracle_products", &FrankWolfe::oracle_products, 2, 1e6,
      "most products per leading singular pair, a pass with four vectors counting as two; sqrt(k)/5 once that is "
      "more"}}};

}  // namespace tracenorm::methods
