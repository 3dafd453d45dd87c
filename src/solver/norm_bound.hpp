// Upper bounds of sigma_1(M), the part of a certificate that must never be too small: from a decomposition, from a
// Cholesky factorisation, or, where both cost too much, from a Lanczos run with a stated probability of error.
#pragma once

#include "base/random.hpp"
#include "solver/leading_pair.hpp"
#include "solver/slope_matrix.hpp"

namespace tracenorm {

class NormBound {
 public:
  NormBound(EntryStore& store, Panels& panels, SlopeMatrix& slopes, LeadingPair& pair, Iterate& iterate,
            const WeightedNorm& norm, Counters& counters, Random& random);

  /// |X|_F^2 and its part at the entries, which margins for rounding need where slopes have a low-rank part.
  void observe(double square_norm, double observed_square) {
    square_norm_ = square_norm;
    observed_square_ = observed_square;
  }

  /// A lower bound of sigma_1, good enough to decide whether a proof is worth its cost.
  double estimate(Slopes which);
  /// An upper bound of sigma_1, proved as rigorously as `work` passes allow.
  SpectralBound bound(Slopes which, double work);

 private:
  [[nodiscard]] double rounding_margin(double square) const;
  SpectralBound from_gram(Slopes which, Side side, bool exact, double passes);
  /// Adds what the low-rank part of the slopes does to the Gram matrix of the entries.
  void add_low_rank(Slopes which, Side side, Eigen::MatrixXd& gram);
  SpectralBound from_lanczos(Slopes which, int steps);

  EntryStore& store_;
  Panels& panels_;
  SlopeMatrix& slopes_;
  LeadingPair& pair_;
  Iterate& iterate_;
  const WeightedNorm& norm_;
  Counters& counters_;
  Random& random_;
  double square_norm_ = 0;
  double observed_square_ = 0;
  std::unique_ptr<BlockKrylov> average_krylov_;  // of estimates of the average's norm; made when first needed
  Panel average_start_;
  Panel average_product_;
};

}  // namespace tracenorm
