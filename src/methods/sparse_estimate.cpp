#include "tracenorm/sparse_estimate.hpp"

#include <cmath>

#include "linalg/symmetric_eigen.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

/// A slope is inside where it is further from the ends than this share of lambda.
constexpr double kInside = 1e-3;

/// An entry is as good as zero where it is at most this share of the largest one.
constexpr double kSmall = 1e-3;

/// Datum and weight of each entry of a full matrix.
DenseObservations whole(const Observations& observations) {
  if (const auto* dense = std::get_if<DenseObservations>(&observations)) return *dense;
  return make_dense(std::get<SparseObservations>(observations));
}

/// work(row, column, place, datum or NaN, weight) for every entry.
template <class Work>
void for_each_entry(const DenseObservations& data, Work&& work) {
  std::size_t e = 0;
  for (Index i = 0; i < data.rows; ++i) {
    for (Index j = 0; j < data.cols; ++j, ++e) {
      work(i, j, e, double(data.value[e]), data.weight.empty() ? 1.0 : double(data.weight[e]));
    }
  }
}

}  // namespace

SparseEstimate sparse_estimate(const Problem& problem, const Result& result) {
  const auto* penalty = std::get_if<L1Penalty>(&problem.penalty);
  if (penalty == nullptr || !(penalty->lambda > 0)) {
    throw Error(ErrorCode::usage, "a sparse estimate needs an l1 penalty: without one nothing asks for zeros");
  }
  if (!result.dual || !std::isfinite(result.lower_bound)) {
    throw Error(ErrorCode::numerical, "there is no sparse estimate: the run kept no dual point");
  }
  if (result.dual->slope.size() !=
      static_cast<std::size_t>(rows(problem.observations)) * static_cast<std::size_t>(cols(problem.observations))) {
    throw Error(ErrorCode::usage, "the dual point is not one of this problem");
  }
  const DenseObservations data = whole(problem.observations);
  const double gap = std::max(0.0, result.objective - result.lower_bound);
  SparseEstimate out;
  out.x = result.solution.dense();
  if (problem.constraint.symmetric()) out.x = (0.5 * (out.x + out.x.transpose())).eval();
  const double small = kSmall * out.x.cwiseAbs().maxCoeff();
  std::visit(
      [&](const auto& loss) {
        for_each_entry(data, [&](Index i, Index j, std::size_t e, double y, double weight) {
          const double middle = std::isnan(y) ? 0.0 : weight * loss.subgradient(0.0, y);
          const double margin = penalty->lambda - std::abs(double(result.dual->slope[e]) - middle);
          if (!(margin > kInside * penalty->lambda)) return;
          out.x(i, j) = 0;
          ++out.zeros;
          if (gap / margin <= small) ++out.proved;
        });
      },
      problem.loss);
  if (problem.constraint.symmetry == Symmetry::semidefinite) {
    const double least = symmetric_eigenvalues(out.x)[0];
    out.raised = std::max(0.0, -least) * (1 + 1e-12);
    if (out.raised > 0) out.x.diagonal().array() += out.raised;
  }
  std::visit(
      [&](const auto& loss) {
        for_each_entry(data, [&](Index i, Index j, std::size_t, double y, double weight) {
          out.objective += penalty->lambda * std::abs(out.x(i, j));
          if (!std::isnan(y)) out.objective += weight * loss.value(out.x(i, j), y);
        });
      },
      problem.loss);
  return out;
}

}  // namespace tracenorm
