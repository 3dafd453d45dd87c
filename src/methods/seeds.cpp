#include "methods/seeds.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/lapack.hpp"

namespace tracenorm::methods {

namespace {

constexpr int kRounds = 4;

double spectral_norm(Eigen::Map<const Factors::Matrix> thin) {
  const Eigen::MatrixXd gram = (thin.transpose() * thin).cast<double>();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, solver.eigenvalues().maxCoeff()));
}

}  // namespace

double Seeds::inside(const LowRankMatrix& x) {
  span_ = Factors(x);
  terms_ = x.terms();
  if (terms_ == 0) return 0;
  span_.orthonormalize();
  Factors product;
  f_.multiply(span_, product);
  return std::max(spectral_norm(std::as_const(product).left()), spectral_norm(std::as_const(product).right()));
}

LowRankMatrix Seeds::outside(Index most) {
  const Index count = std::min({most, f_.rows() - terms_, f_.cols() - terms_});
  if (count <= 0) return {f_.rows(), f_.cols()};
  Factors block(f_.rows(), f_.cols(), count);
  Factors product;
  for (Real& value : block.values()) value = Real(random_.normal());
  for (int round = 0; round < kRounds; ++round) {
    leave_spans(block);
    block.orthonormalize();
    f_.multiply(block, product);
    std::swap(block, product);
  }
  leave_spans(block);
  block.orthonormalize();
  f_.multiply(block, product);
  const Eigen::MatrixXd core = (block.left().transpose() * product.left()).cast<double>();
  const lapack::Svd svd = lapack::svd(core);
  return {block.left().cast<double>() * svd.left.leftCols(count), -svd.values.head(count),
          block.right().cast<double>() * svd.right.leftCols(count)};
}

void Seeds::leave_spans(Factors& block) const {
  if (terms_ == 0) return;
  block.left() -= (span_.left() * (span_.left().transpose() * block.left())).eval();
  block.right() -= (span_.right() * (span_.right().transpose() * block.right())).eval();
}

}  // namespace tracenorm::methods
