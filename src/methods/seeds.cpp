#include "methods/seeds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/lapack.hpp"
#include "linalg/symmetric_eigen.hpp"
#include "methods/descent_point.hpp"

namespace tracenorm::methods {

namespace {

constexpr int kRounds = 4;

double spectral_norm(Panels& panels, const Panel& thin) {
  return std::sqrt(std::max(0.0, symmetric_eigenvalues(panels.gram(thin, thin)).maxCoeff()));
}

}  // namespace

double Seeds::inside(const FactoredMatrix& x) {
  terms_ = x.terms();
  if (terms_ == 0) return 0;
  Panels& panels = f_.panels();
  span_ = f_.sampled(x);
  orthonormalize(span_);
  const Product product = make_point(panels, span_.left.columns()).factors;
  f_.multiply(span_, product);
  if (f_.symmetry() != Symmetry::none) return spectral_norm(panels, product.left);
  return std::max(spectral_norm(panels, product.left), spectral_norm(panels, product.right));
}

FactoredMatrix Seeds::outside(Index most) {
  Panels& panels = f_.panels();
  const Index count = std::min({most, f_.rows() - terms_, f_.cols() - terms_});
  if (count <= 0) return FactoredMatrix(panels);
  const Index columns = (count + kFactorStep - 1) / kFactorStep * kFactorStep;
  Product block = make_point(panels, columns).factors;
  Product product = make_point(panels, columns).factors;
  if (f_.symmetry() != Symmetry::none) return symmetric_outside(block, product, count);
  panels.draw(1, random_, block.left);
  panels.draw(1, random_, block.right);
  for (int round = 0; round < kRounds; ++round) {
    leave_spans(block);
    orthonormalize(block);
    f_.multiply(block, product);
    std::swap(block, product);
  }
  leave_spans(block);
  orthonormalize(block);
  f_.multiply(block, product);
  const lapack::Svd svd = lapack::svd(panels.gram(block.left, product.left));
  Product seeds{panels.make(Side::left, Use::exact, count), panels.make(Side::right, Use::exact, count)};
  panels.combine(0, block.left, svd.left.leftCols(count), seeds.left);
  panels.combine(0, block.right, svd.right.leftCols(count), seeds.right);
  return {panels, seeds.left, -svd.values.head(count), seeds.right};
}

FactoredMatrix Seeds::symmetric_outside(const Product& block, const Product& product, Index most) {
  Panels& panels = f_.panels();
  const bool one_sided = f_.symmetry() == Symmetry::semidefinite;
  panels.draw(1, random_, block.right);
  const auto settle = [&] {
    panels.copy(block.right, block.left);
    leave_spans(block);
    orthonormalize(block);
    panels.copy(block.left, block.right);
    f_.multiply(block, product);
  };
  for (int round = 0; round < kRounds; ++round) {
    settle();
    // Powers of M find what is largest; those of s - M what is least.
    const double shift = one_sided ? spectral_norm(panels, product.left) : 0;
    panels.add(shift, one_sided ? -1 : 1, product.left.flat(), block.right.flat());
  }
  settle();
  const Eigen::MatrixXd small = panels.gram(block.left, product.left);
  const SymmetricEigen eigen =
      leading_eigen((small + small.transpose()) / 2, one_sided ? Signs::negative : Signs::any, 0);
  const auto count = std::min(most, static_cast<Index>(eigen.values.size()));
  if (count == 0) return FactoredMatrix(panels);
  const Product seeds{panels.make(Side::left, Use::exact, count), panels.make(Side::right, Use::exact, count)};
  panels.combine(0, block.right, eigen.vectors.leftCols(count), seeds.right);
  panels.add(0, 1, seeds.right.flat(), seeds.left.flat());
  return {panels, seeds.left, -eigen.values.head(count), seeds.right};
}

void Seeds::leave_spans(const Product& block) {
  if (terms_ == 0) return;
  Panels& panels = f_.panels();
  panels.combine(1, span_.left, -panels.gram(span_.left, block.left), block.left);
  panels.combine(1, span_.right, -panels.gram(span_.right, block.right), block.right);
}

void Seeds::orthonormalize(const Product& block) {
  constexpr double least = 1e-10;
  Panels& panels = f_.panels();
  for (const Panel& side : {block.left, block.right}) {
    const auto [squares, vectors] = symmetric_eigen(panels.gram(side, side));
    const double floor = least * squares[squares.size() - 1];
    const Eigen::VectorXd factor =
        squares.unaryExpr([&](double square) { return square > floor ? 1 / std::sqrt(square) : 0.0; });
    panels.combine(0, side, (vectors * factor.asDiagonal()).rowwise().reverse(), side);
  }
}

}  // namespace tracenorm::methods
