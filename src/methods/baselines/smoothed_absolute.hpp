// What RLRMC minimises at one smoothing d, on the matrices of rank r (Cambier and Absil 2016, eq. 3.1 with lambda not
// squared):
//     f_d(X) = 1/K [ sum over observed of w sqrt(d^2 + (X - Y)^2)  +  lambda sum over unobserved of X^2 ],  K observed
//     entries.
#pragma once

#include <vector>

#include "methods/baselines/fixed_rank.hpp"
#include "methods/baselines/observed.hpp"

namespace tracenorm::baselines {

class SmoothedAbsolute {
 public:
  SmoothedAbsolute(const Observed& data, double lambda) : data_(data), lambda_(lambda) {}

  /// f_d(x). Keeps the slopes for `gradient`.
  double value(const FixedRankPoint& x, double d);
  /// The Riemannian gradient at x, which must be the point of the last `value`.
  [[nodiscard]] Tangent gradient(const FixedRankPoint& x) const;
  /// Mean w |X - Y| at the point of the last `value`.
  [[nodiscard]] double mean_error() const { return mean_error_; }

 private:
  const Observed& data_;
  double lambda_;
  std::vector<double>
      slope_;  // [ w e / sqrt(d^2 + e^2) - 2 lambda x ] / K on the pattern; the rest of the gradient is 2 lambda X / K
  double mean_error_ = 0;
};

}  // namespace tracenorm::baselines
