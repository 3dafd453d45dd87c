#include "methods/frank_wolfe.hpp"

#include <algorithm>
#include <cmath>

#include "methods/line_search.hpp"
#include "methods/methods.hpp"
#include "methods/width_schedule.hpp"

namespace tracenorm::methods {

namespace {

/// An inexact oracle keeps the rate as long as its error shrinks like the step, 1/k (Jaggi 2013). Where the spectrum is
/// flat, as that of slopes of kinked losses, p products leave an error of order 1/p^2: so p needs to grow like sqrt(k),
/// and the first iterations need few (docs/measurements.md). Where it is not, the tolerance stops earlier.
OracleAccuracy accuracy(const FrankWolfe& options, int k) {
  constexpr double finest = 1e-7;
  const double tolerance = std::max(finest, options.oracle_tolerance / std::sqrt(k + 1.0));
  return {tolerance, static_cast<int>(std::max<double>(options.oracle_products, std::sqrt(double(k)) / 5))};
}

/// The best first step is 2/d; the later ones are 2/(k+d). Beyond a d of this the start would be too shy.
constexpr double kLargestDelay = 50;

}  // namespace

double FrankWolfeStep::next(Evaluator& f, int k) {
  f.aim(f.leading_atom(accuracy(options_, k)).atom, 2 / (k + delay_));
  if (options_.step == StepRule::line_search) return line_search(f);
  if (options_.step == StepRule::measured && k == 0) delay_ = 2 / std::max(line_search(f), 2 / kLargestDelay);
  return 2.0 / (k + delay_);
}

/// The paper's Algorithm 1. Line numbers are its own; X lives in the evaluator.
void run(const FrankWolfe& options, const Problem&, Evaluator& f, Session& session) {
  WidthSchedule width(options.width, f);
  FrankWolfeStep step(options);
  const auto state = [&](const Exchange& kept) {
    width.exchange(kept.part("width"));
    step.exchange(kept.part("step"));
  };
  for (int k = session.begin(state); !session.pauses(k, state); ++k) {
    const double tau = width.next(k);                                                                      // line 5
    const Linearization model = f.linearize(tau, session.wants_conjugate(k) || width.wants_conjugate(k));  // line 6
    const double alpha = step.next(f, k);                                                                  // lines 4, 7
    if (!session.proceed({.k = k, .objective = model.objective, .width = tau, .step = alpha}, model)) return;
    const double change = f.move(alpha);  // line 8
    width.observe(model, f.estimate_norm(Slopes::current), change);
  }
}

}  // namespace tracenorm::methods
