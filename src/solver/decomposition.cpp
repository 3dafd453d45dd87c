#include "solver/decomposition.hpp"

#include <optional>

#include "linalg/lapack.hpp"

namespace tracenorm {

namespace {

/// Upper triangular, with R'R = gram. Columns may be of any lengths; nothing where they depend on each other.
std::optional<Eigen::MatrixXd> upper_factor(const Eigen::MatrixXd& gram) {
  const Eigen::ArrayXd length = gram.diagonal().array().sqrt();
  if (!gram.allFinite() || length.minCoeff() <= 0) return {};
  Eigen::MatrixXd scaled = length.inverse().matrix().asDiagonal() * gram * length.inverse().matrix().asDiagonal();
  if (!lapack::factor_cholesky(scaled)) return {};
  const Eigen::MatrixXd upper = scaled.triangularView<Eigen::Lower>().transpose();
  return upper * length.matrix().asDiagonal();
}

Eigen::MatrixXd inverse(const Eigen::MatrixXd& upper) {
  const auto side = upper.rows();
  return upper.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(side, side));
}

/// A panel is Q R, and Q is `near * turn`, with orthonormal columns.
struct ThinQr {
  Panel near;
  Eigen::MatrixXd turn;
  Eigen::MatrixXd r;
};

/// By Cholesky factors, twice: the first Q is near to orthonormal if the columns are not near to dependent, and then
/// the second one is orthonormal but for rounding (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015).
std::optional<ThinQr> thin_qr(Panels& panels, const Panel& panel) {
  constexpr double kNear = 0.1;
  if (panel.columns() == 0 || panel.columns() > panels.length(panel)) return {};
  const auto first = upper_factor(panels.gram(panel, panel));
  if (!first) return {};
  const Panel near = panels.make(panel.side(), Use::exact, panel.columns());
  panels.combine(0, panel, inverse(*first), near);
  const Eigen::MatrixXd square = panels.gram(near, near);
  if (!((square - Eigen::MatrixXd::Identity(square.rows(), square.cols())).norm() <= kNear)) return {};
  const auto second = upper_factor(square);
  if (!second) return {};
  return ThinQr{near, inverse(*second), *second * *first};
}

}  // namespace

bool decompose(Panels& panels, Panel& left, Eigen::VectorXd& values, Panel& right) {
  if (!values.allFinite()) return false;
  const auto q = thin_qr(panels, left);
  if (!q) return panels.decompose(left, values, right);
  const auto p = thin_qr(panels, right);
  if (!p) return panels.decompose(left, values, right);
  const lapack::Svd core = lapack::svd(lapack::product(q->r * values.asDiagonal(), p->r, true));
  values = core.values;
  panels.combine(0, q->near, lapack::product(q->turn, core.left), left);
  panels.combine(0, p->near, lapack::product(p->turn, core.right), right);
  return true;
}

}  // namespace tracenorm
