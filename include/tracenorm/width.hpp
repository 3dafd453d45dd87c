// Six rules for the width (the paper's tau) make one family: FWUA with the paper's width, a hybrid and a balanced one,
// SCCG, SCCG(SG), HCGS.
#pragma once

#include <array>
#include <variant>

#include "tracenorm/field.hpp"

namespace tracenorm {

/// FWUA (paper, Algorithm 2): width = 2/(k+2) * max over the last five steps of max|X - S|; the radius at k = 0. It
/// stops shrinking at k' when an accuracy `epsilon` is given.
struct PaperWidth {
  double epsilon = 0;
  static const std::array<Field<PaperWidth>, 1> fields;
};

/// The paper's rule with a floor: max(paper, floor * data scale / sqrt(k+1)). Starts as fast, and provably converges.
struct HybridWidth {
  double floor = 0.5;
  static const std::array<Field<HybridWidth>, 1> fields;
};

/// FWUA, the default: the certified gap is the sum of a slack, which a narrower width lowers, and a linear gap, which a
/// wider one lowers (docs/mathematics.md). The width is steered so that slack = share * linear gap: it cannot stay too
/// wide or too narrow for long, whatever a few entries do. Its bounds meet in the end at the hybrid's kind of floor, so
/// it converges as the hybrid does.
struct BalancedWidth {
  double share = 0.25;
  static const std::array<Field<BalancedWidth>, 1> fields;
};

/// SCCG: one fixed smoothing parameter.
struct ConstantWidth {
  double mu = 0.01;
  static const std::array<Field<ConstantWidth>, 1> fields;
};

/// SCCG(SG): a subgradient, the limit mu -> 0.
struct ZeroWidth {
  static constexpr std::array<Field<ZeroWidth>, 0> fields{};
};

/// HCGS: slope bound * beta / sqrt(k+1).
struct RootWidth {
  double beta = 1.0;
  static const std::array<Field<RootWidth>, 1> fields;
};

inline constexpr std::array<Field<PaperWidth>, 1> PaperWidth::fields{
    {{"epsilon", &PaperWidth::epsilon, 0.0, 1e300, "accuracy at which the width is frozen; 0: never"}}};
inline constexpr std::array<Field<HybridWidth>, 1> HybridWidth::fields{
    {{"floor", &HybridWidth::floor, 0.0, 1e6, "floor of the width, times data scale / sqrt(k+1)"}}};
inline constexpr std::array<Field<BalancedWidth>, 1> BalancedWidth::fields{
    {{"share", &BalancedWidth::share, 1e-3, 1e3,
      "slack from smoothing that the width aims at, as a share of the linear gap"}}};
inline constexpr std::array<Field<ConstantWidth>, 1> ConstantWidth::fields{
    {{"mu", &ConstantWidth::mu, 0.0, 1e300, "the fixed smoothing width"}}};
inline constexpr std::array<Field<RootWidth>, 1> RootWidth::fields{
    {{"beta", &RootWidth::beta, 0.0, 1e300, "factor of the width slope/sqrt(k+1)"}}};

using WidthRule = std::variant<BalancedWidth, PaperWidth, HybridWidth, ConstantWidth, ZeroWidth, RootWidth>;

}  // namespace tracenorm
