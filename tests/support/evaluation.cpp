#include "support/evaluation.hpp"

#include <cmath>

namespace tracenorm::test {

double plain_objective(const Problem& problem, const Eigen::MatrixXd& x) {
  const auto& data = std::get<SparseObservations>(problem.observations);
  double sum = 0;
  Eigen::MatrixXd observed = Eigen::MatrixXd::Zero(x.rows(), x.cols());
  for (Index i = 0; i < data.pattern.rows(); ++i) {
    for (Offset e = data.pattern.begin()[i]; e < data.pattern.begin()[i + 1]; ++e) {
      const Index j = data.pattern.col()[e];
      observed(i, j) = 1;
      const double weight = data.weight.empty() ? 1.0 : double(data.weight[std::size_t(e)]);
      sum +=
          weight *
          std::visit([&](const auto& loss) { return double(loss.value(x(i, j), double(data.value[std::size_t(e)]))); },
                     problem.loss);
    }
  }
  if (const auto* l1 = std::get_if<L1Penalty>(&problem.penalty)) sum += l1->lambda * x.cwiseAbs().sum();
  if (const auto* complement = std::get_if<ComplementSquaredPenalty>(&problem.penalty)) {
    sum += complement->lambda * ((1 - observed.array()) * x.array().square()).sum();
  }
  return sum;
}

}  // namespace tracenorm::test
