#include "solver/decomposition.hpp"

#include <optional>

#include "linalg/lapack.hpp"
#include "linalg/symmetric_eigen.hpp"

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

/// Whether these columns are so far from dependent that nothing can go wrong in `thin_qr`.
bool is_safe(const Eigen::MatrixXd& gram) {
  constexpr double kLeast = 1e-8;
  const Eigen::ArrayXd shrink = gram.diagonal().array().sqrt().inverse();
  if (gram.size() == 0 || !gram.allFinite() || !shrink.allFinite()) return false;
  const Eigen::VectorXd squares =
      symmetric_eigenvalues(shrink.matrix().asDiagonal() * gram * shrink.matrix().asDiagonal());
  return squares.minCoeff() > kLeast * squares.maxCoeff();
}

/// By Cholesky factors, twice: the first Q is near to orthonormal if the columns are not near to dependent, and then
/// the second one is orthonormal but for rounding (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015). In place the
/// first Q takes that of the panel.
std::optional<ThinQr> thin_qr(Panels& panels, const Panel& panel, const Eigen::MatrixXd& gram, bool in_place) {
  constexpr double kNear = 0.1;
  if (panel.columns() == 0 || panel.columns() > panels.length(panel)) return {};
  const auto first = upper_factor(gram);
  if (!first) return {};
  const Panel near = in_place ? panel : panels.make(panel.side(), Use::exact, panel.columns());
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
  const Eigen::MatrixXd left_gram = panels.gram(left, left);
  const Eigen::MatrixXd right_gram = panels.gram(right, right);
  // Panels are most of what a long run has in memory: they are copied only where they may be needed once more.
  const bool in_place = is_safe(left_gram) && is_safe(right_gram);
  const auto q = thin_qr(panels, left, left_gram, in_place);
  if (!q) return panels.decompose(left, values, right);
  const auto p = thin_qr(panels, right, right_gram, in_place);
  if (!p) return panels.decompose(left, values, right);
  const lapack::Svd core = lapack::svd(lapack::product(q->r * values.asDiagonal(), p->r, true));
  values = core.values;
  panels.combine(0, q->near, lapack::product(q->turn, core.left), left);
  panels.combine(0, p->near, lapack::product(p->turn, core.right), right);
  return true;
}

}  // namespace tracenorm
