// A radius that chooses itself: a path of radii, each solved from the answer of the last, judged on held-out entries.
#pragma once

#include <string>
#include <vector>

#include "tracenorm/solve.hpp"

namespace tracenorm {

struct RadiusPathOptions {
  double ratio = 1.6;    ///< between one radius and the next
  int iterations = 100;  ///< at most this many per radius
  int patience = 40;     ///< early stopping within a radius: iterations without a better validation error
  int tolerance = 2;     ///< radii in a row without a better one end the path
  int most = 24;         ///< radii at most
};

/// One radius of the path and its best iterate on the validation entries.
struct RadiusStep {
  double radius = 0;
  double lambda = 0;   ///< of the l1 penalty, for paths that try several
  std::string loss{};  ///< where several were tried
  int turn = 0;        ///< so many times offsets and X were fitted in turn; -1: offsets before X, and kept
  double gain = 1;     ///< the answer times this is what the error is of
  double validation_error = 0;
  double objective = 0;
  double relative_gap = 0;  ///< certified, of that iterate
  Index rank = 0;
  int iterations = 0;
  double passes = 0;
  double seconds = 0;
};

struct RadiusPath {
  std::vector<RadiusStep> steps;  ///< in the order they were tried; the first has radius 0: what preparation alone does
  std::size_t best = 0;           ///< the step with the smallest validation error
  Result result;                  ///< of that step

  [[nodiscard]] double radius() const { return steps[best].radius; }
};

/// The radius at which a first atom is promised to lower the objective by a twentieth: less hardly changes anything.
double smallest_radius(const Problem& problem, const RunOptions& run = {});

/// Goes up from the smallest radius until the validation error has turned. `hooks.validation` must be given; `run.gap`
/// is left for a later solve. Sets the radius of `problem` to the one chosen. Cancelling ends the path; what was best
/// so far is returned with the status `interrupted`.
RadiusPath choose_radius(Problem& problem, const Method& method, const RunOptions& run, const RunHooks& hooks,
                         const RadiusPathOptions& options = {});

/// A path of radii for each of several l1 penalties, from none up to where two in a row have not helped; the best of
/// all, with the steps of all. Sets radius and penalty of `problem`.
RadiusPath choose_radius_and_penalty(Problem& problem, const Method& method, const RunOptions& run,
                                     const RunHooks& hooks, const RadiusPathOptions& options = {});

/// The same options with what those steps have left of the time that was asked for.
RunOptions after(RunOptions run, const std::vector<RadiusStep>& steps);

}  // namespace tracenorm
