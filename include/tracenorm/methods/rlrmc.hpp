// RLRMC: robust low-rank matrix completion by Riemannian conjugate gradients (Cambier and Absil 2016): a fixed rank,
// the absolute loss smoothed to sqrt(d^2 + e^2), d shrinking from stage to stage. Nonconvex: no certificate.
#pragma once

#include <string_view>

#include "tracenorm/field.hpp"

namespace tracenorm::methods {

struct Rlrmc {
  int rank = 5;
  double smoothing = 0.3;  ///< d at the first stage, times the median |datum|
  double shrink = 0.5;     ///< d <- shrink * d after each stage
  int stages = 7;
  int inner = 40;  ///< conjugate-gradient iterations per stage

  static constexpr std::string_view name = "rlrmc";
  static constexpr bool bounded = false;
  static const std::array<Field<Rlrmc>, 5> fields;
};

inline constexpr std::array<Field<Rlrmc>, 5> Rlrmc::fields{
    {{"rank", &Rlrmc::rank, 1, 1e6, "rank of the solution"},
     {"smoothing", &Rlrmc::smoothing, 1e-12, 1e6,
      "smoothing of the absolute loss at the first stage, times the median size of the data"},
     {"shrink", &Rlrmc::shrink, 1e-6, 1.0, "factor of the smoothing from stage to stage"},
     {"stages", &Rlrmc::stages, 1, 1e6, "number of stages"},
     {"inner", &Rlrmc::inner, 1, 1e9, "conjugate-gradient iterations per stage"}}};

}  // namespace tracenorm::methods
