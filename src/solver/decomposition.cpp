#include "solver/decomposition.hpp"

#include <optional>
#include <utility>

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

/// A panel is near `near * first`, and the columns of `near` are near to orthonormal.
struct NearQr {
  Panel near;
  Eigen::MatrixXd first;
  Eigen::MatrixXd inverse_of_first;
  Eigen::MatrixXd square;  ///< of `near`
};

/// A panel is Q R, and Q is `near * turn`, with orthonormal columns.
struct ThinQr {
  Panel near;
  Eigen::MatrixXd turn;
  Eigen::MatrixXd r;
};

/// Whether these columns are so far from dependent that nothing can go wrong below, and no digits are lost that count.
bool is_safe(const Eigen::MatrixXd& gram) {
  constexpr double kLeast = 1e-8;
  const Eigen::ArrayXd shrink = gram.diagonal().array().sqrt().inverse();
  if (gram.size() == 0 || !gram.allFinite() || !shrink.allFinite()) return false;
  const Eigen::VectorXd squares =
      symmetric_eigenvalues(shrink.matrix().asDiagonal() * gram * shrink.matrix().asDiagonal());
  return squares.minCoeff() > kLeast * squares.maxCoeff();
}

/// By a Cholesky factor; nothing where columns are too near to dependent. In place `near` takes that of the panel.
std::optional<NearQr> near_qr(Panels& panels, const Panel& panel, const Eigen::MatrixXd& gram, bool in_place) {
  constexpr double kNear = 0.1;
  if (panel.columns() == 0 || panel.columns() > panels.length(panel)) return {};
  const auto first = upper_factor(gram);
  if (!first) return {};
  NearQr q{in_place ? panel : panels.make(panel.side(), Use::exact, panel.columns()), *first, inverse(*first), {}};
  panels.combine(0, panel, q.inverse_of_first, q.near);
  q.square = panels.gram(q.near, q.near);
  if (!((q.square - Eigen::MatrixXd::Identity(q.square.rows(), q.square.cols())).norm() <= kNear)) return {};
  return q;
}

/// By another one of what the first made: its Q is orthonormal but for rounding (Yamamoto, Nakatsukasa, Yanagisawa and
/// Fukaya 2015). They solve with the first factor; an inverse loses the digits by which columns are near to dependent,
/// so what is left of the panel is brought in once more, and the panel is not needed after that.
ThinQr thin_qr(Panels& panels, const Panel& panel, NearQr q, bool in_place) {
  if (!in_place) {
    panels.combine(1, q.near, -q.first, panel);
    panels.combine(1, panel, q.inverse_of_first, q.near);
    q.square = panels.gram(q.near, q.near);
  }
  const Eigen::MatrixXd second = upper_factor(q.square).value();  // it is near to the identity
  return {q.near, inverse(second), second * q.first};
}

}  // namespace

bool decompose(Panels& panels, Panel& left, Eigen::VectorXd& values, Panel& right) {
  if (!values.allFinite()) return false;
  const Eigen::MatrixXd left_gram = panels.gram(left, left);
  const Eigen::MatrixXd right_gram = panels.gram(right, right);
  // Panels are most of what a long run has in memory: they are copied only where they may be needed once more.
  const bool in_place = is_safe(left_gram) && is_safe(right_gram);
  auto near_left = near_qr(panels, left, left_gram, in_place);
  auto near_right = near_left ? near_qr(panels, right, right_gram, in_place) : std::nullopt;
  if (!near_right) return panels.decompose(left, values, right);
  const ThinQr q = thin_qr(panels, left, std::move(*near_left), in_place);
  const ThinQr p = thin_qr(panels, right, std::move(*near_right), in_place);
  const lapack::Svd core = lapack::svd(lapack::product(q.r * values.asDiagonal(), p.r, true));
  values = core.values;
  panels.combine(0, q.near, lapack::product(q.turn, core.left), left);
  panels.combine(0, p.near, lapack::product(p.turn, core.right), right);
  return true;
}

}  // namespace tracenorm
