// The state of generalized forward-backward splitting and its step. With weights w1 + w2 = 1 and the step g = step / L,
//     a   = 2 X - g grad F(X)
//     Z1 += soft(a - Z1, g lambda1 / w1) - X
//     Z2 += SVT (a - Z2, g lambda2 / w2) - X
//     X   = w1 Z1 + w2 Z2
// Without an l1 penalty w2 = 1, and this is the forward-backward (proximal gradient) method.
#pragma once

#include "methods/baselines/singular_threshold.hpp"
#include "tracenorm/methods/genfb.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm::baselines {

bool is_smooth(const Loss& loss);

class Splitting {
 public:
  Splitting(const Problem& problem, const methods::GenFB& options, std::uint64_t seed, const Execution& execution);

  /// One step. Returns P2, the matrix that the thresholding gave.
  LowRankMatrix advance();
  /// |X_new - X| / |X_new| of the last step (the norm floored, so that an answer of zero can be approached).
  [[nodiscard]] double change() const { return change_; }
  /// Whether the last thresholding provably overlooked nothing; see SingularThreshold.
  bool confirm() { return threshold_.confirm(a_, svt_level_); }

  /// A proved lower bound of the penalised optimum, from the slopes at X (algorithms.md 9.4): for any M in the domain
  /// of f*, f = loss + lambda1 |.|_1, with sigma_1(M) <= lambda2,  min f + lambda2 |.|_tr >= -f*(M).
  double lower_bound();

  void exchange(Exchange state);

  [[nodiscard]] double step() const { return step_; }
  [[nodiscard]] double work() const { return threshold_.work() + entry_work_; }

 private:
  /// Calls work(place, grad F at the entry) for every entry, shard by shard.
  template <class Work>
  void for_each_entry(Work&& work) const;
  /// grad F(X) plus the l1 subgradient that the last soft threshold made, into a_: inside the domain of f*.
  void make_dual_point();
  /// sum of f*(scale * M) for the M in a_.
  [[nodiscard]] double conjugate_sum(double scale) const;
  /// An upper bound of sigma_1(M) for the M in a_.
  [[nodiscard]] double norm_bound();

  const Execution& execution_;
  DenseObservations owned_;  // empty unless the observations are sparse
  const DenseObservations& data_;
  const Loss& loss_;
  double lambda1_;
  double lambda2_;
  double step_;
  double w1_;
  double w2_;
  double soft_level_;
  double svt_level_;
  RowMatrix x_;
  RowMatrix z1_;
  RowMatrix z2_;
  RowMatrix a_;  // a - Z2, the argument of the thresholding
  std::vector<Index> cuts_;
  SingularThreshold threshold_;
  Random random_;
  bool at_start_ = true;
  double floor_ = 0;   // of the norm that changes are compared with
  double moved_ = 0;   // |X_new - X|
  double change_ = 0;  // the same, relative
  double entry_work_ = 0;
};

}  // namespace tracenorm::baselines
