#include "methods/baselines/fixed_rank.hpp"

#include "methods/baselines/block_svd.hpp"

namespace tracenorm::baselines {

double inner(const Tangent& a, const Tangent& b) {
  return a.m.cwiseProduct(b.m).sum() + a.up.cwiseProduct(b.up).sum() + a.vp.cwiseProduct(b.vp).sum();
}

Tangent add(double scale, const Tangent& a, const Tangent& b) {
  return {scale * a.m + b.m, scale * a.up + b.up, scale * a.vp + b.vp};
}

Tangent scaled(double factor, const Tangent& a) { return {factor * a.m, factor * a.up, factor * a.vp}; }

Tangent project(const FixedRankPoint& x, const Eigen::MatrixXd& zv, const Eigen::MatrixXd& ztu) {
  Tangent tangent;
  tangent.m.noalias() = x.u.transpose() * zv;
  tangent.up = zv - x.u * tangent.m;
  tangent.vp = ztu - x.v * (x.v.transpose() * ztu);
  return tangent;
}

FixedRankPoint retract(const FixedRankPoint& x, const Tangent& tangent, double t) {
  // X + t (U M V' + Up V' + U Vp') = [U Up] [S + tM, tI; tI, 0] [V Vp]'; QR of both outer factors leaves a small SVD.
  const Eigen::Index r = x.rank();
  Eigen::MatrixXd left(x.u.rows(), 2 * r);
  Eigen::MatrixXd right(x.v.rows(), 2 * r);
  left << x.u, tangent.up;
  right << x.v, tangent.vp;
  Eigen::MatrixXd core = Eigen::MatrixXd::Zero(2 * r, 2 * r);
  core.topLeftCorner(r, r) = t * tangent.m;
  core.topLeftCorner(r, r).diagonal() += x.s;
  core.topRightCorner(r, r).diagonal().setConstant(t);
  core.bottomLeftCorner(r, r).diagonal().setConstant(t);
  const Eigen::MatrixXd left_r = orthonormalize(left);
  const Eigen::MatrixXd right_r = orthonormalize(right);
  core = left_r * core * right_r.transpose();
  const lapack::Svd svd = lapack::svd(core);
  FixedRankPoint next;
  next.u.noalias() = left * svd.left.leftCols(r);
  next.s = svd.values.head(r);
  next.v.noalias() = right * svd.right.leftCols(r);
  return next;
}

Tangent transport(const FixedRankPoint& from, const Tangent& tangent, const FixedRankPoint& to) {
  // The matrix is (U M + Up) V' + U Vp'; only its products with the new bases are needed.
  const Eigen::MatrixXd spread = from.u * tangent.m + tangent.up;
  const Eigen::MatrixXd zv = spread * (from.v.transpose() * to.v) + from.u * (tangent.vp.transpose() * to.v);
  const Eigen::MatrixXd ztu = from.v * (spread.transpose() * to.u) + tangent.vp * (from.u.transpose() * to.u);
  return project(to, zv, ztu);
}

}  // namespace tracenorm::baselines
