// The manifold of m x n matrices of a fixed rank r, as an embedded submanifold (Vandereycken 2013).
//
// A point is X = U diag(s) V'. A tangent vector at X is U M V' + Up V' + U Vp' with U'Up = 0 and V'Vp = 0; its inner
// product is the sum of the three Frobenius products, the one it has as a matrix.
#pragma once

#include <Eigen/Core>

namespace tracenorm::baselines {

struct FixedRankPoint {
  Eigen::MatrixXd u;
  Eigen::VectorXd s;
  Eigen::MatrixXd v;
  [[nodiscard]] Eigen::Index rank() const { return s.size(); }
};

struct Tangent {
  Eigen::MatrixXd m;   // r x r
  Eigen::MatrixXd up;  // m x r
  Eigen::MatrixXd vp;  // n x r
};

double inner(const Tangent& a, const Tangent& b);
/// scale * a + b.
Tangent add(double scale, const Tangent& a, const Tangent& b);
Tangent scaled(double factor, const Tangent& a);

/// The orthogonal projection onto the tangent space at x of a matrix Z given by its products Z V and Z' U:
///     M = U' Z V,   Up = Z V - U M,   Vp = Z' U - V M'.
Tangent project(const FixedRankPoint& x, const Eigen::MatrixXd& zv, const Eigen::MatrixXd& ztu);

/// The rank-r matrix nearest to X + t (tangent): a singular value decomposition of size 2r.
FixedRankPoint retract(const FixedRankPoint& x, const Tangent& tangent, double t);

/// The tangent vector at `from`, seen as a matrix, projected onto the tangent space at `to`.
Tangent transport(const FixedRankPoint& from, const Tangent& tangent, const FixedRankPoint& to);

}  // namespace tracenorm::baselines
