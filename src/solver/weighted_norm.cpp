#include "solver/weighted_norm.hpp"

#include <utility>

namespace tracenorm {

WeightedNorm::WeightedNorm(const TraceNormBall& ball, Panels& panels) : panels_(panels) {
  if (!ball.weighted()) return;
  const auto add = [&](Side side, const std::vector<double>& weight, Panel& weights) {
    const Eigen::VectorXd given =
        Eigen::Map<const Eigen::VectorXd>(weight.data(), static_cast<Eigen::Index>(weight.size()));
    const Eigen::VectorXd scale = given.cwiseInverse();
    for (const Use use : {Use::exact, Use::search, Use::descent}) {
      Panel& panel = scales_[static_cast<std::size_t>(side)][static_cast<std::size_t>(use)];
      panel = panels.make(side, use, 1);
      panels.upload(scale, panel);
    }
    weights = panels.make(side, Use::exact, 1);
    panels.upload(scale.cwiseInverse(), weights);
    largest_ *= scale.maxCoeff();
  };
  add(Side::left, ball.row_weight, row_weight_);
  add(Side::right, ball.col_weight, col_weight_);
}

void WeightedNorm::scale(const Panel& panel) const {
  if (!plain()) panels_.scale_rows(panel, factors(panel.side(), panel.use()));
}

FactoredMatrix WeightedNorm::to_data(FactoredMatrix z) const {
  if (!plain()) z.scale(factors(Side::left, Use::exact), factors(Side::right, Use::exact));
  return z;
}

FactoredMatrix WeightedNorm::from_data(FactoredMatrix x) const {
  if (!plain()) x.scale(row_weight_, col_weight_);
  return x;
}

}  // namespace tracenorm
