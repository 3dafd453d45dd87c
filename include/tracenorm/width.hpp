// Five rules for the width (the paper's tau) make five members of one family: FWUA, SCCG, SCCG(SG), HCGS, and the
// hybrid.
#pragma once

#include <array>
#include <variant>

#include "tracenorm/evaluator.hpp"
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
inline constexpr std::array<Field<ConstantWidth>, 1> ConstantWidth::fields{
    {{"mu", &ConstantWidth::mu, 0.0, 1e300, "the fixed smoothing width"}}};
inline constexpr std::array<Field<RootWidth>, 1> RootWidth::fields{
    {{"beta", &RootWidth::beta, 0.0, 1e300, "factor of the width slope/sqrt(k+1)"}}};

using WidthRule = std::variant<PaperWidth, HybridWidth, ConstantWidth, ZeroWidth, RootWidth>;

/// The state of a rule during a run.
class WidthSchedule {
 public:
  WidthSchedule(const WidthRule& rule, const Evaluator& evaluator);
  /// The width at iteration k.
  double next(int k);
  /// Tells the schedule max|X - S| of the step just completed.
  void observe(double largest_change);

 private:
  [[nodiscard]] double paper(int k) const;

  WidthRule rule_;
  double radius_;
  double scale_;
  double kink_slope_;
  double freeze_after_;  // k' of Algorithm 2, infinite without an epsilon
  double frozen_ = 0;
  std::array<double, 5> changes_{};  // a ring of the last five
  int observed_ = 0;
};

}  // namespace tracenorm
