#include "methods/frank_wolfe.hpp"

#include <algorithm>
#include <cmath>

#include "methods/line_search.hpp"
#include "methods/methods.hpp"

namespace tracenorm::methods {

namespace {

/// An inexact oracle keeps the rate as long as its error shrinks like the step, 1/k (Jaggi 2013). Where the spectrum is
/// flat, as that of slopes of kinked losses, p products leave an error of order 1/p^2: so p needs to grow like sqrt(k),
/// and the first iterations need few (docs/measurements.md). Where it is not, the tolerance stops earlier.
OracleAccuracy accuracy(const FrankWolfe& options, int k) {
  constexpr double finest = 1e-7;
  const double tolerance = std::max(finest, options.oracle_tolerance / std::sqrt(k + 1.0));
  return {tolerance, static_cast<int>(std::max(options.oracle_products, std::sqrt(double(k)) / 5))};
}

}  // namespace

double aim_at_leading_atom(const FrankWolfe& options, Evaluator& f, int k) {
  f.aim(f.leading_atom(accuracy(options, k)).atom);
  return options.step == StepRule::line_search ? line_search(f) : 2.0 / (k + 2);
}

/// The paper's Algorithm 1. Line numbers are its own; X lives in the evaluator.
void run(const FrankWolfe& options, const Problem&, Evaluator& f, Session& session) {
  WidthSchedule width(options.width, f);
  for (int k = 0;; ++k) {
    const double tau = width.next(k);                                          // line 5
    const Linearization model = f.linearize(tau, session.wants_conjugate(k));  // line 6
    const double alpha = aim_at_leading_atom(options, f, k);                   // lines 4 and 7
    if (!session.proceed({.k = k, .objective = model.objective, .width = tau, .step = alpha}, model)) return;
    width.observe(f.move(alpha));  // line 8
  }
}

}  // namespace tracenorm::methods
