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
  if (!std::isfinite(lower_bound)) return std::numeric_limits<double>::infinity();
  constexpr double tiny = std::numeric_limits<double>::min();
  return std::max(0.0, objective - lower_bound) / std::max(std::abs(lower_bound), tiny);
}

}  // namespace tracenorm
