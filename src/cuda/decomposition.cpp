// The singular value decomposition of a product of two panels: where they are, if their columns are far enough from
// dependent, and otherwise on the host, a few times in a run.
#include <algorithm>

#include "cuda/panels.hpp"

namespace tracenorm::cuda {

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

}  // namespace

std::optional<CudaPanels::ThinQr> CudaPanels::thin_qr(const Panel& panel) {
  // By Cholesky factors, twice: the first Q is near to orthonormal if the columns are not near to dependent, and then
  // the second one is orthonormal but for rounding (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015).
  constexpr double kNear = 0.1;
  if (panel.columns() == 0 || panel.columns() > panel.rows()) return {};
  const auto first = upper_factor(Panels::gram(panel, panel));
  if (!first) return {};
  const Panel near = make(panel.side(), Use::exact, panel.columns());
  combine(0, panel, inverse(*first), near);
  const Eigen::MatrixXd square = Panels::gram(near, near);
  if (!((square - Eigen::MatrixXd::Identity(square.rows(), square.cols())).norm() <= kNear)) return {};
  const auto second = upper_factor(square);
  if (!second) return {};
  return ThinQr{near, inverse(*second), *second * *first};
}

bool CudaPanels::decompose_here(Panel& left, Eigen::VectorXd& values, Panel& right) {
  const auto q = thin_qr(left);
  if (!q) return false;
  const auto p = thin_qr(right);
  if (!p) return false;
  const lapack::Svd core = lapack::svd(lapack::product(q->r * values.asDiagonal(), p->r, true));
  values = core.values;
  combine(0, q->near, q->turn * core.left, left);
  combine(0, p->near, p->turn * core.right, right);
  return true;
}

bool CudaPanels::decompose_on_host(Panel& left, Eigen::VectorXd& values, Panel& right) {
  lapack::Svd svd{download(left), values, download(right)};
  if (!svd.left.allFinite() || !svd.right.allFinite()) return false;
  lapack::decompose_product(svd, execution_);
  values = svd.values;
  const auto terms = static_cast<Index>(values.size());
  left = left.middle(0, terms);
  right = right.middle(0, terms);
  upload(svd.left, left);
  upload(svd.right, right);
  device_->finish();
  return true;
}

bool CudaPanels::decompose(Panel& left, Eigen::VectorXd& values, Panel& right) {
  return values.allFinite() && (decompose_here(left, values, right) || decompose_on_host(left, values, right));
}

}  // namespace tracenorm::cuda
