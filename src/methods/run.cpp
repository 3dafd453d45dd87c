#include "tracenorm/run.hpp"

#include <cmath>

namespace tracenorm {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::not_run:
      return "not_run";
    case Status::gap_reached:
      return "gap_reached";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::time_limit:
      return "time_limit";
    case Status::validation_limit:
      return "validation_limit";
    case Status::converged:
      return "converged";
    case Status::optimal:
      return "optimal";
    case Status::precision_limit:
      return "precision_limit";
    case Status::interrupted:
      return "interrupted";
    case Status::numerical_failure:
      return "numerical_failure";
  }
  return "unknown";
}

std::string_view to_string(SpectralBound::Proof proof) {
  switch (proof) {
    case SpectralBound::Proof::none:
      return "none";
    case SpectralBound::Proof::exact:
      return "exact";
    case SpectralBound::Proof::cholesky:
      return "cholesky";
    case SpectralBound::Proof::probabilistic:
      return "probabilistic";
  }
  return "none";
}

double relative_gap(double objective, double lower_bound) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (!std::isfinite(objective) || !std::isfinite(lower_bound)) return infinite;
  const double gap = objective - lower_bound;
  if (gap <= 0) return 0;
  const double relative = gap / std::abs(lower_bound);
  return relative < kUselessGap ? relative : infinite;
}

}  // namespace tracenorm
