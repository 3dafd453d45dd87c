// GLRL's economical update: the best of the matrices a X - b G, where X and G are known on the pattern.
#pragma once

#include <vector>

#include "methods/baselines/observed.hpp"

namespace tracenorm::baselines {

/// The point a with the least sum of weight_i |a - value_i|: the weighted median (the lower one of two). Reorders its
/// input.
struct WeightedValue {
  double value;
  double weight;
};
double weighted_median(std::vector<WeightedValue>& values);

struct Coefficients {
  double a = 1;
  double b = 0;
};

/// The squares and products of X and G over all their entries, for the penalty off the pattern.
struct GramEntries {
  double xx = 0;
  double xg = 0;
  double gg = 0;
};

/// Minimises phi(a, b) = f(a X - b G) by turns in a and in b, three times, each a convex problem in one variable: by a
/// weighted median for the absolute loss without a penalty, by golden section otherwise. Never ends above phi(1, 0).
class TwoCoefficients {
 public:
  TwoCoefficients(const Observed& data, const Problem& problem);

  /// x and g: entries of X and G on the pattern.
  Coefficients fit(const std::vector<double>& x, const std::vector<double>& g, const GramEntries& gram);

 private:
  [[nodiscard]] double value(Coefficients at) const;
  Coefficients along(Coefficients from, bool in_a, double first_step);
  Coefficients median(Coefficients from, bool in_a);
  Coefficients golden(Coefficients from, bool in_a, double first_step) const;

  const Observed& data_;
  const Problem& problem_;
  double lambda_;
  bool use_median_;
  const std::vector<double>* x_ = nullptr;
  const std::vector<double>* g_ = nullptr;
  GramEntries gram_;
  std::vector<WeightedValue> scratch_;
};

}  // namespace tracenorm::baselines
