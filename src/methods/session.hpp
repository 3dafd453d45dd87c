// Everything a method would otherwise repeat: clock, counters, trace, certificate, held-out error, stopping, observer.
#pragma once

#include <chrono>

#include "base/function_ref.hpp"
#include "methods/certifier.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm {

/// Why a run should stop at this iteration; `not_run` when it should not. A pure function of its arguments.
Status stopping_status(const RunOptions& options, const Iteration& iteration, bool cancelled,
                       int since_best_validation);

class Session {
 public:
  /// `from`: where a run stood that goes on here; null for one that begins.
  Session(const RunOptions& options, const RunHooks& hooks, Evaluator& evaluator, const State* from = nullptr);

  [[nodiscard]] const RunOptions& options() const { return options_; }

  /// The method minimises f + weight |X|_tr: what `finish` reports is that.
  void add_trace_penalty(double weight) { trace_penalty_ = weight; }

  [[nodiscard]] bool wants_conjugate(int k) const { return certifier_.wants_conjugate(k); }

  /// Iterations are few and long: each of them may be the best on the validation entries.
  void expect_long_iterations() {
    validation_stride_ = 1;
    certifier_.leave_averages();
  }
  /// Whether the time is over or somebody wants the run to stop; for methods whose iterations are long.
  [[nodiscard]] bool overdue();

  /// What a method knows beside X: it takes part in what is kept of a run.
  using MethodState = FunctionRef<void(const Exchange& state)>;
  /// The first iteration. Puts everything back where a run goes on.
  int begin(MethodState method);
  /// Whether the run lets go of everything before iteration k, to go on from the state that is kept. Asked before every
  /// iteration.
  bool pauses(int k, MethodState method);
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] State take_state() { return std::move(state_); }

  /// Completes the record of iteration k (index, objective, width, step and sigma are the method's), certifies, tells
  /// the observer. Returns whether to go on.
  /// The objective is that of `holder`; null: that of the iterate.
  bool proceed(Iteration iteration, const Linearization& model, const ModelPoint* holder = nullptr);
  /// The same for a method that brings its own lower bound, or none (minus infinity). `converged` is the method's own
  /// stopping rule.
  bool proceed(Iteration iteration, double lower_bound, bool converged = false);

  /// The result so far: solution, certificate, trace. Objective and norms are those of the solution as it is returned,
  /// which is inside the ball where the method is `bounded` by it.
  Result finish(std::string method, bool bounded);

 private:
  void exchange(Exchange state);
  /// So far; where there are ranks, by the first one's clock when they met last.
  [[nodiscard]] double seconds() const;
  [[nodiscard]] double own_seconds() const;
  /// Asks the clock and whoever may stop the run, one answer for all ranks.
  void look_up();
  void follow_validation(Iteration& iteration);
  void complete(Iteration& iteration) const;
  [[nodiscard]] Status stopping(const Iteration& iteration) const;
  /// A gap that the rounded objective of the iterations has reached: whether the true one has, too. Puts that in its
  /// place.
  bool confirm(Iteration& iteration, const ModelPoint* holder);
  /// The one place that says how a run ended, from the numbers that are returned.
  [[nodiscard]] Status final_status(const Result& result, bool from_validation) const;
  /// Makes this, in the units of the iterate, the answer, with its objective and its norm.
  void answer(FactoredMatrix solution, bool bounded, Result& result);
  /// Shrinks an answer that rounding may have left outside the ball.
  void keep_inside(FactoredMatrix& solution, double& norm) const;
  bool record(const Iteration& iteration);
  /// Work on a lower bound, whose time is kept.
  template <class Work>
  void certify(Work&& work) {
    const double before = own_seconds();
    work();
    certificate_seconds_ += own_seconds() - before;
  }
  /// How many terms of an answer are worth keeping: those that are left out change the objective by a small share of
  /// what is not certified, and of what the run has gained, to first order (a unit of trace norm is worth at most
  /// sigma_1 of the slopes).
  [[nodiscard]] Index weighty_terms(const FactoredMatrix& solution, double lower_bound) const;

  const RunOptions& options_;
  const RunHooks& hooks_;
  Evaluator& evaluator_;
  double trace_penalty_ = 0;
  Certifier certifier_;
  std::chrono::steady_clock::time_point start_;
  const State* from_;
  State state_;  // of a run that pauses
  bool paused_ = false;
  bool cancelled_ = false;     // when somebody looked last
  double agreed_seconds_ = 0;  // likewise, among ranks
  double leg_began_ = 0;       // in passes
  double seconds_before_ = 0;  // of former legs
  double certificate_seconds_ = 0;
  std::vector<Iteration> trace_;
  Status status_ = Status::not_run;
  double best_validation_ = std::numeric_limits<double>::infinity();
  int best_iteration_ = 0;
  int refusals_ = 0;            // of gaps that were not confirmed
  int next_confirm_ = 0;        // not before this iteration
  int validation_stride_ = 10;  // copying the factors of every improvement would cost more than short iterations
};

}  // namespace tracenorm
