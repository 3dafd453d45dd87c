// Decompositions of dense matrices by LAPACK: blocked, and made for the processor at hand, which templates compiled for
// every processor are not. One thread each, so that the bits do not depend on the number of threads.
#pragma once

#include <Eigen/Core>

namespace tracenorm::lapack {

/// m = left diag(values) right', thin, values descending.
struct Svd {
  Eigen::MatrixXd left;
  Eigen::VectorXd values;
  Eigen::MatrixXd right;
};
/// Throws Error when m holds values that are not finite.
Svd svd(Eigen::MatrixXd m);

/// m = Q R with orthonormal Q, which is kept as the reflectors that make it.
class Qr {
 public:
  explicit Qr(Eigen::MatrixXd m);
  [[nodiscard]] Eigen::Index thin() const { return tau_.size(); }  ///< columns of Q
  [[nodiscard]] Eigen::MatrixXd r() const;
  /// Q times a matrix of `thin()` rows.
  [[nodiscard]] Eigen::MatrixXd times(const Eigen::MatrixXd& m) const;

 private:
  Eigen::MatrixXd reflectors_;  // below the diagonal; R above it
  Eigen::VectorXd tau_;
};

/// a b or a b'.
Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, bool transpose_b = false);

}  // namespace tracenorm::lapack
