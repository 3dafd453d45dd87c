// Evaluators as tests use them: with everything on the host.
#pragma once

#include <Eigen/Core>
#include <memory>

#include "cpu/backend.hpp"
#include "solver/evaluator.hpp"

namespace tracenorm::test {

/// An evaluator with an execution of its own.
inline std::shared_ptr<Evaluator> make_evaluator(const Problem& problem, const Backend& backend = cpu_backend()) {
  struct Own {
    Own(const Problem& p, const Backend& b) : execution(2), evaluator(p, execution, b, 1) {}
    Execution execution;
    Evaluator evaluator;
  };
  const auto own = std::make_shared<Own>(problem, backend);
  return {own, &own->evaluator};
}

/// X as a dense matrix.
inline Eigen::MatrixXd iterate(Evaluator& f) { return f.downloaded().dense(); }

/// M as a dense matrix, by products with unit vectors, of its columns or of its rows.
inline Eigen::MatrixXd slope_matrix(Evaluator& f, Side side = Side::right) {
  const Index count = side == Side::right ? f.cols() : f.rows();
  const Panel in = f.panels().make(side, Use::exact, 1);
  const Panel out = f.panels().make(side == Side::right ? Side::left : Side::right, Use::exact, 1);
  Eigen::MatrixXd m(f.panels().length(out), count);
  for (Index k = 0; k < count; ++k) {
    f.panels().upload(Eigen::VectorXd::Unit(count, k), in);
    f.apply_slopes(in, out);
    m.col(k) = f.panels().download(out);
  }
  return side == Side::right ? m : Eigen::MatrixXd(m.transpose());
}

/// The objective by its definition, entry by entry in double. Sparse data.
double plain_objective(const Problem& problem, const Eigen::MatrixXd& x);

}  // namespace tracenorm::test
