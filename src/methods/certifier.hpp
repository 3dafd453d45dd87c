// Keeps the best certified lower bound of a run, and decides when proving another one is worth its cost.
//
// For any matrix M of slopes inside the conjugates' domains (every chord slope is, and so is every convex average of
// them),
//     min f >= - sum f*_ij(M_ij) - radius * sigma_1(M)                                            (Fenchel duality).
// The singular-pair solver gives sigma_1 from below, which is enough to judge whether a bound would be an improvement;
// what is reported uses a proved upper bound of sigma_1.
#pragma once

#include <optional>
#include <utility>

#include "solver/evaluator.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm {

class Certifier {
 public:
  Certifier(Evaluator& evaluator, const RunOptions& options);

  /// Whether iteration k should sum the conjugates of its slopes.
  [[nodiscard]] bool wants_conjugate(int k) const;
  /// Looks at the slopes of iteration k.
  void update(int k, const Linearization& model);
  /// A last look, whatever was spent so far: no run ends without a certificate.
  void finish(const Linearization& model);

  /// Replaces a bound that holds with a probability by one that holds, if that costs little of it and takes a moment.
  void remove_doubt(double objective);

  /// `averages` says whether the slopes that were averaged are kept, too.
  void exchange(Exchange state, bool averages);

  /// Averages of slopes of few and long iterations say nothing that the last ones do not.
  void leave_averages() { averages_ = false; }
  /// Takes over a bound that a method proved itself.
  void accept(double lower_bound);

  [[nodiscard]] double lower_bound() const { return lower_bound_; }
  [[nodiscard]] const Certificate& certificate() const { return certificate_; }
  /// The dual point of the lower bound, if it was to be kept and there is one.
  [[nodiscard]] std::optional<DualPoint> take_dual() { return std::exchange(dual_, std::nullopt); }

 private:
  /// Passes that may still be spent.
  [[nodiscard]] double allowance() const;
  /// Whether so many passes are enough for a proof along the way.
  [[nodiscard]] bool worth_a_proof(double work) const;
  [[nodiscard]] bool gap_in_reach(double objective, double estimate) const;
  /// Proves what the current slopes prove.
  void prove_current(double work);
  /// The same for a dual point that is made already, and whose norm is about known.
  void prove_made(Slopes which, double conjugates, double estimate, double work);
  /// Proves what the dual point, which was made of `which`, proves with this bound of its norm; keeps it where it is
  /// better than what is known by more than `margin`.
  bool take(Slopes which, double conjugate_sum, const SpectralBound& bound, double margin = 0);
  void prove_zero();
  void try_both(const Linearization& model, double work);

  Evaluator& evaluator_;
  const RunOptions& options_;
  double lower_bound_ = -std::numeric_limits<double>::infinity();
  Certificate certificate_;
  std::optional<DualPoint> dual_;
  int next_check_ = 0;
  bool averages_ = true;
  int averaged_ = 0;
  double refused_estimate_ = -std::numeric_limits<double>::infinity();  // an estimate whose proof did not reach the gap
};

}  // namespace tracenorm
