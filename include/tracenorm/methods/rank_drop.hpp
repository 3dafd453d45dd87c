// RDFW: Frank-Wolfe with rank-drop steps (Cheung and Li 2017), which keep the iterate's rank near that of the solution.
#pragma once

#include "tracenorm/methods/frank_wolfe.hpp"

namespace tracenorm::methods {

struct RankDrop {
  FrankWolfe frank_wolfe;  ///< the loop that rank drops are added to
  int interval = 10;       ///< drops are tried every so many iterations, at most two per iteration passed
  int rank = 0;            ///< cap: drops are then taken down to this rank even when they cost something; 0: no cap

  static constexpr std::string_view name = "rdfw";
  static constexpr bool bounded = true;  ///< solves the problem under the trace-norm bound
  static const std::array<Field<RankDrop>, 2> fields;
};

inline constexpr std::array<Field<RankDrop>, 2> RankDrop::fields{
    {{"interval", &RankDrop::interval, 1, 1e6, "iterations between two attempts at rank-drop steps"},
     {"rank", &RankDrop::rank, 0, 1e6, "cap on the rank; 0: none, drops must not raise the objective"}}};

}  // namespace tracenorm::methods
