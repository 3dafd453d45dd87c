// Upper bounds of sigma_1(M) (over the semidefinite cone: of max(0, -lambda_min(M))), the part of a certificate that
// must never be too small: from a decomposition, from a Cholesky factorisation, or, where both cost too much, from a
// Lanczos run with a stated probability of error.
#pragma once

#include <optional>

#include "base/random.hpp"
#include "solver/leading_pair.hpp"
#include "solver/slope_matrix.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {

/// For tests: every bound is proved in this way, whatever it costs.
void force_proof(std::optional<SpectralBound::Proof> proof);

class NormBound {
 public:
  /// The problem must outlive it.
  NormBound(const Problem& problem, EntryStore& store, Panels& panels, SlopeMatrix& slopes, LeadingPair& pair,
            Iterate& iterate, const WeightedNorm& norm, Counters& counters, Random& random);

  /// A lower bound of sigma_1 of the current slopes or of the dual point, good enough to decide whether a proof is
  /// worth its cost.
  double estimate(Slopes which);
  /// An upper bound of sigma_1 of the dual point, about which the estimate is known. Proved as rigorously as `work`
  /// passes allow, and without a doubt wherever that takes no more than a moment.
  SpectralBound bound(double estimate, double work);
  /// Whether that bound would be of a Lanczos run: its steps are products, and few of them say nothing.
  [[nodiscard]] bool by_lanczos(double work) const { return plan(work).proof == SpectralBound::Proof::probabilistic; }
  /// Whether a bound without a doubt takes no more than a moment, and that bound.
  [[nodiscard]] bool certain_in_a_moment() const;
  SpectralBound certain_bound(double estimate);

 private:
  /// What the proofs would cost, in passes.
  struct Costs {
    Side side;  // of the smaller Gram matrix
    double length;
    double exact;
    double cholesky;
    double moment;  // what nobody minds waiting for
  };
  [[nodiscard]] Costs costs() const;
  /// How a bound is proved with so much work.
  struct Plan {
    Costs costs;
    SpectralBound::Proof proof;
    int steps;  // of a Lanczos run
  };
  [[nodiscard]] Plan plan(double work) const;
  /// Counts passes as those of a certificate: so many, or those that `work` makes.
  void spend(double passes);
  template <class Work>
  auto certifying(Work&& work);
  /// A vector of Lanczos runs, of length one or nearly.
  Panel random_start();
  /// A bound of |G - G as it is multiplied|_F: with a low-rank part the entries of G less 2 lambda X were rounded.
  [[nodiscard]] double rounding_margin() const;
  SpectralBound from_gram(const Costs& costs, bool exact, double estimate);
  /// Adds what the low-rank part of the slopes does to the Gram matrix of the entries.
  void add_low_rank(Side side, Eigen::MatrixXd& gram);
  SpectralBound from_lanczos(int steps);
  /// The dual point of a symmetric problem, divided by the weights of the norm, in a lower triangle; and how far that
  /// may be off in the Frobenius norm.
  Eigen::MatrixXd dual_matrix(double& error);
  /// What a unit of trace norm can gain, of a symmetric problem.
  SpectralBound from_matrix(bool exact, double estimate);
  SpectralBound from_both_ends(int steps);
  SpectralBound from_algebra(const Costs& costs, bool exact, double estimate) {
    spend(exact ? costs.exact : costs.cholesky);
    return symmetry_ == Symmetry::none ? from_gram(costs, exact, estimate) : from_matrix(exact, estimate);
  }

  const Problem& problem_;
  Symmetry symmetry_;
  EntryStore& store_;
  Panels& panels_;
  SlopeMatrix& slopes_;
  LeadingPair& pair_;
  Iterate& iterate_;
  const WeightedNorm& norm_;
  Counters& counters_;
  Random& random_;
  std::unique_ptr<BlockKrylov> dual_krylov_;  // of estimates of a dual point's norm; made when first needed
  Panel dual_start_;
  Panel dual_product_;
};

}  // namespace tracenorm
