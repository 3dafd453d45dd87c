// GenFB: generalized forward-backward (Raguet, Fadili and Peyre 2013; Richard, Savalle and Vayatis 2012) for the
// penalised problem
//     minimize  loss(X) + lambda1 |X|_1 + lambda2 |X|_tr
// with a smooth loss. Its solution solves the trace-norm bounded problem whose radius is its trace norm. Dense.
#pragma once

#include <string_view>

#include "tracenorm/field.hpp"

namespace tracenorm::methods {

struct GenFB {
  double trace_penalty = 1.0;  ///< lambda2
  double step = 0.25;       ///< times 1/L, in (0, 2); short steps suit an l1 penalty, without one 1 and more is faster
  double tolerance = 1e-5;  ///< stop when the iterate changes by less than this share of its norm

  static constexpr std::string_view name = "genfb";
  static constexpr bool bounded = false;
  static const std::array<Field<GenFB>, 3> fields;
};

inline constexpr std::array<Field<GenFB>, 3> GenFB::fields{
    {{"trace_penalty", &GenFB::trace_penalty, 0.0, 1e300, "lambda2, the weight of the trace norm"},
     {"step", &GenFB::step, 1e-3, 1.999, "step length times the gradient's Lipschitz constant"},
     {"tolerance", &GenFB::tolerance, 0.0, 1.0, "relative change of the iterate at which to stop"}}};

}  // namespace tracenorm::methods
