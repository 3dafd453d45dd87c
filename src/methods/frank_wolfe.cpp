#include "methods/methods.hpp"

#include <algorithm>
#include <cmath>

#include "methods/line_search.hpp"

namespace tracenorm::methods {

namespace {

/// An inexact oracle keeps the rate as long as its error shrinks with the step (Jaggi 2013), so the tolerance tightens. Slope
/// matrices of kinked losses have flat spectra, where a tight pair costs many products and buys nothing (docs/measurements.md):
/// the number of products is capped, and the cap rises slowly.
OracleAccuracy accuracy(const FrankWolfe& options, int k) {
  constexpr double finest = 1e-7;
  const double tolerance = std::max(finest, options.oracle_tolerance / std::sqrt(k + 1.0));
  return {tolerance, static_cast<int>(options.oracle_products + std::sqrt(double(k)) / 4)};
}

}  // namespace

/// The paper's Algorithm 1. Line numbers are its own; X lives in the evaluator.
void run(const FrankWolfe& options, Evaluator& f, Session& session) {
  WidthSchedule width(options.width, f);
  for (int k = 0;; ++k) {
    const double alpha = 2.0 / (k + 2);                                                    // line 4
    const double tau = width.next(k);                                                      // line 5
    const Linearization model = f.linearize(tau, session.wants_conjugate(k));              // line 6
    const LeadingAtom& s = f.leading_atom(accuracy(options, k));                           // line 7
    f.aim(s.atom);
    const double step = options.step == StepRule::line_search ? line_search(f) : alpha;
    if (!session.proceed({.k = k, .objective = model.objective, .width = tau, .step = step, .sigma = s.sigma}, model)) {
      return;
    }
    width.observe(f.move(step));                                                           // line 8
  }
}

}  // namespace tracenorm::methods
