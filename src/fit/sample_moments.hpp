// Sums over samples by pairs of variables, of those samples that have both.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "tracenorm/covariance.hpp"

namespace tracenorm {

struct Moments {
  Eigen::MatrixXd count;    ///< samples that have i and j
  Eigen::MatrixXd sum;      ///< (i, j): of variable i over them
  Eigen::MatrixXd product;  ///< of i times j over them

  Moments& operator-=(const Moments& part);
};

/// Over the samples of these numbers.
Moments sample_moments(const Samples& samples, const std::vector<Index>& which);

/// The unbiased covariance of a pair, around the means of the samples that have both; NaN with fewer than `least`.
double pair_covariance(const Moments& moments, Index i, Index j, double least);

/// Values beyond `kFarValue` robust deviations from the median of their variable. A variable of which more than half
/// are one number has no such deviation, and no such values.
std::vector<std::size_t> far_values(const Samples& samples);

}  // namespace tracenorm
