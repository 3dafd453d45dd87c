// The set the answer lies in.
#pragma once

#include <string_view>
#include <vector>

#include "tracenorm/observations.hpp"

namespace tracenorm {

/// Which matrices of a ball there are: all of them, the symmetric ones (Z = sum of w u u' with weights of both signs),
/// or the positive semidefinite ones (no weight below zero; the trace norm is the trace). The last two are for
/// symmetric data.
enum class Symmetry { none, symmetric, semidefinite };
/// "none", "symmetric", "psd".
std::string_view to_string(Symmetry symmetry);
/// Throws a usage error for another word.
Symmetry parse_symmetry(std::string_view text);

/// { X : sum of singular values of Z <= radius } with Z = diag(row_weight) X diag(col_weight). Empty weights are ones:
/// the plain trace norm. The extreme points are Z = radius * u v' with unit u, v.
struct TraceNormBall {
  double radius = 1.0;
  std::vector<double> row_weight{};  ///< empty, or one positive weight per row
  std::vector<double> col_weight{};  ///< empty together with row_weight, or one positive weight per column
  Symmetry symmetry = Symmetry::none;

  [[nodiscard]] bool weighted() const { return !row_weight.empty(); }
  [[nodiscard]] bool symmetric() const { return symmetry != Symmetry::none; }
};

/// Weights that make up for rows and columns observed unequally often (Srebro and Salakhutdinov 2010, smoothed as by
/// Foygel, Salakhutdinov, Shamir and Srebro 2011):
///   weight = ((1 - smoothing) * count / mean count + smoothing) ^ power.
struct NormWeights {
  double power = 0.0;      ///< 0: the plain trace norm; 1/2: the weighted trace norm of the papers
  double smoothing = 0.5;  ///< above 0, so that rows without entries keep a weight
};

/// The ball of this radius whose weights follow the counts of the observed entries.
TraceNormBall weighted_ball(double radius, const NormWeights& weights, const Observations& observations,
                            int threads = 0);

}  // namespace tracenorm
