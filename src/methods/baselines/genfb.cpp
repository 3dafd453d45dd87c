// GenFB: H. Raguet, J. Fadili, G. Peyre, "A generalized forward-backward splitting", SIAM J. Imaging Sci. 6(3), 2013,
// used for sparse and low-rank matrices by E. Richard, P.-A. Savalle, N. Vayatis, ICML 2012.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "linalg/kept_matrix.hpp"
#include "methods/baselines/splitting.hpp"
#include "methods/methods.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm::methods {

namespace {

using namespace baselines;

void check_for_genfb(const Problem& problem) {
  if (!is_smooth(problem.loss)) {
    throw Error(ErrorCode::usage, fmt::format("genfb: loss {}; it needs a smooth one: squared, huber or logistic",
                                              to_string(problem.loss)));
  }
  if (std::holds_alternative<ComplementSquaredPenalty>(problem.penalty) && penalty_lambda(problem.penalty) > 0) {
    throw Error(ErrorCode::usage, "genfb: a complement-squared penalty; it knows the penalties none and l1");
  }
}

/// Spends a share of the work on lower bounds: each costs a Gram matrix and its factorisation.
class BoundBudget {
 public:
  BoundBudget(const RunOptions& options, Index rows, Index cols)
      : options_(options), cost_(double(rows) * cols * std::min(rows, cols)) {}

  bool due(int k, double work, bool converged) {
    constexpr int stride = 10;
    const bool last = converged || k >= options_.iterations;
    const bool affordable = k == 0 || (k % stride == 0 && spent_ + cost_ <= options_.certificate_share * work);
    if (!last && !affordable) return false;
    if (k > 0) spent_ += cost_;
    return true;
  }
  void exchange(Exchange state) { state.number("spent", spent_); }

 private:
  const RunOptions& options_;
  double cost_;
  double spent_ = 0;
};

}  // namespace

/// Minimises loss + lambda1 |X|_1 + lambda2 |X|_tr. What is reported at k is P2, the last output of the singular value
/// thresholding: it has a rank, and it agrees with X in the end.
void run(const GenFB& options, const Problem& problem, Evaluator& f, Session& session) {
  check_for_genfb(problem);
  session.add_trace_penalty(options.trace_penalty);
  Splitting splitting(problem, options, session.options().seed, f.execution());
  BoundBudget budget(session.options(), f.rows(), f.cols());
  LowRankMatrix p2(f.rows(), f.cols());
  bool converged = false;
  const auto state = [&](Exchange kept) {
    splitting.exchange(kept.part("splitting"));
    budget.exchange(kept.part("budget"));
    exchange(kept.part("p2"), p2);
    kept.number("converged", converged);
  };
  for (int k = session.begin(state); !session.pauses(k, state); ++k) {
    const double bound = budget.due(k, splitting.work(), converged) ? splitting.lower_bound() : kNoBound;
    f.restart(p2);
    const double objective = f.objective(f.iterate()) + options.trace_penalty * p2.trace_norm_bound();
    if (!session.proceed({.k = k, .objective = objective, .step = splitting.step()}, bound, converged)) return;
    p2 = splitting.advance();
    converged = splitting.change() <= options.tolerance && splitting.confirm();
  }
}

}  // namespace tracenorm::methods
