#include "campaign/truth.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <cmath>

namespace tracenorm::campaign {

namespace {

using Wide = long double;

Wide value(const losses::Absolute&, Wide x, Wide y) { return std::abs(x - y); }
Wide value(const losses::Huber& loss, Wide x, Wide y) {
  const Wide e = std::abs(x - y);
  const Wide d = loss.delta;
  return e <= d ? e * e / 2 : d * (e - d / 2);
}
Wide value(const losses::Quantile& loss, Wide x, Wide y) {
  return x > y ? Wide(1 - loss.level) * (x - y) : Wide(loss.level) * (y - x);
}
Wide value(const losses::EpsilonInsensitive& loss, Wide x, Wide y) {
  return std::max<Wide>(0, std::abs(x - y) - Wide(loss.epsilon));
}
Wide value(const losses::Squared& loss, Wide x, Wide y) { return Wide(loss.weight) * (x - y) * (x - y); }
Wide value(const losses::Hinge&, Wide x, Wide y) { return std::max<Wide>(0, 1 - y * x); }
Wide value(const losses::Logistic&, Wide x, Wide y) {
  const Wide z = y * x;
  return std::max<Wide>(0, -z) + std::log1p(std::exp(-std::abs(z)));
}
Wide value(const losses::Custom& loss, Wide x, Wide y) {
  return loss.function(static_cast<double>(x), static_cast<double>(y));
}

}  // namespace

long double true_objective(const Problem& problem, const Result& answer) {
  const LowRankMatrix& x = answer.solution;
  const auto* given = std::get_if<SparseObservations>(&problem.observations);
  const DenseObservations data =
      given != nullptr ? make_dense(*given) : std::get<DenseObservations>(problem.observations);
  const auto* l1 = std::get_if<L1Penalty>(&problem.penalty);
  const auto* complement = std::get_if<ComplementSquaredPenalty>(&problem.penalty);
  Wide sum = 0;
  std::size_t e = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j, ++e) {
      Wide at = 0;
      for (Index t = 0; t < x.terms(); ++t) at += Wide(x.left()(i, t)) * Wide(x.values()[t]) * Wide(x.right()(j, t));
      if (l1 != nullptr) sum += Wide(l1->lambda) * std::abs(at);
      if (std::isnan(data.value[e])) {
        if (complement != nullptr) sum += Wide(complement->lambda) * at * at;
        continue;
      }
      const Wide weight = data.weight.empty() ? 1 : Wide(data.weight[e]);
      if (problem.offsets) at += Wide(answer.offsets.row[std::size_t(i)]) + Wide(answer.offsets.col[std::size_t(j)]);
      sum += weight * std::visit([&](const auto& loss) { return value(loss, at, Wide(data.value[e])); }, problem.loss);
    }
  }
  if (problem.offsets) {
    for (const double b : answer.offsets.row) sum += Wide(problem.offsets->row) * b * b;
    for (const double c : answer.offsets.col) sum += Wide(problem.offsets->col) * c * c;
  }
  return sum;
}

double true_trace_norm(const Problem& problem, const LowRankMatrix& x) {
  if (x.terms() == 0) return 0;
  Eigen::MatrixXd z = x.dense();
  const TraceNormBall& ball = problem.constraint;
  if (ball.weighted()) {
    for (Index i = 0; i < x.rows(); ++i) z.row(i) *= ball.row_weight[static_cast<std::size_t>(i)];
    for (Index j = 0; j < x.cols(); ++j) z.col(j) *= ball.col_weight[static_cast<std::size_t>(j)];
  }
  return Eigen::BDCSVD<Eigen::MatrixXd>(z).singularValues().sum();
}

std::string wrong_shape(const Problem& problem, const LowRankMatrix& x) {
  if (!problem.constraint.symmetric() || x.terms() == 0) return {};
  const Eigen::MatrixXd dense = x.dense();
  const double size = dense.cwiseAbs().maxCoeff();
  const double apart = (dense - dense.transpose()).cwiseAbs().maxCoeff();
  if (!(apart <= 1e-14 * size)) return fmt::format("X and its transpose are {:.3g} apart", apart);
  if (problem.constraint.symmetry == Symmetry::symmetric) return {};
  const double least = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense).eigenvalues()[0];
  return least >= -1e-13 * dense.norm() ? "" : fmt::format("an eigenvalue is {:.3g}", least);
}

}  // namespace tracenorm::campaign
