// A covariance from samples: what many variables have in common (X, semidefinite, of low trace and sparse), and what
// each has of its own (D, a diagonal).
//
// Variables are taken in their deviations, so that S, the covariances by pairs, are correlations. X is fitted to S off
// the diagonal: minimize sum over i != j of w_ij loss(X_ij, S_ij) + l1 |X_ij| over X >= 0 with trace X <= radius. D
// raises the diagonal of X to one. So X + D keeps the variances that were seen, and is semidefinite.
#pragma once

#include <Eigen/Core>
#include <string_view>
#include <vector>

#include "tracenorm/fit.hpp"

namespace tracenorm {

/// One sample a row; NaN: missing.
struct Samples {
  Index count = 0;
  Index variables = 0;
  std::vector<double> value;  ///< row-major
};

/// Which values count: all, or those within `kFarValue` robust deviations (1.4826 times the median distance from the
/// median) of the median of their variable. The others are taken for missing, so that neither they nor a stand-in for
/// them has a say.
enum class SampleEstimate { plain, trimmed };
inline constexpr double kFarValue = 3.5;
/// "plain", "trimmed".
std::string_view to_string(SampleEstimate estimate);
/// Throws a usage error for another word.
SampleEstimate parse_sample_estimate(std::string_view text);

struct CovarianceOptions {
  /// Radius, penalty, loss, method and run; what is empty is chosen as for other fits, but by folds of the samples.
  /// Without a loss it is half the square. Units, weights of the norm and symmetry are not for the caller to say.
  FitOptions fit{};
  SampleEstimate estimate = SampleEstimate::plain;
  int least_pairs = 3;  ///< a covariance from fewer samples is not looked at
  int folds = 5;        ///< parts of the samples that are held out in turn, where something is to be chosen
};

/// In deviations: variable i has `deviation[i]`.
struct CovarianceEstimate {
  Index samples = 0;
  Offset missing = 0;  ///< values that were not there
  Offset far = 0;      ///< values beyond `kFarValue` robust deviations; with `trimmed` they were left out
  Offset rare = 0;     ///< pairs of variables with too few samples that have both
  Eigen::VectorXd mean;
  Eigen::VectorXd deviation;
  Eigen::MatrixXd scaled;  ///< X + D, symmetric and semidefinite; exact zeros where the l1 penalty makes them
  Offset zeros = 0;        ///< pairs (i < j) whose covariance is exactly zero
  double raised = 0;       ///< what X's diagonal was raised by to be semidefinite with those zeros

  [[nodiscard]] Eigen::MatrixXd covariance() const;
  [[nodiscard]] Eigen::MatrixXd correlation() const;
};

/// The inverse of a covariance. Where its least eigenvalue, in deviations, is below a 10^-6th of the largest, `ridge`
/// is added to every variance of size one before it is inverted, so that it is not.
struct Precision {
  Eigen::MatrixXd matrix;
  double ridge = 0;
};
Precision precision_of(const CovarianceEstimate& estimate, bool of_correlation = false);

struct CovarianceFit {
  Fit fit;  ///< X, as a fit to S: its problem has no diagonal
  CovarianceEstimate estimate;
};

/// Names the variable (by `names`, or its number) that is constant or has fewer than two values.
CovarianceFit fit_covariance(Samples samples, const CovarianceOptions& options = {}, const RunHooks& hooks = {},
                             const Labels& names = {});

}  // namespace tracenorm
