#include "solver/block_krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/panels.hpp"

namespace tracenorm {

namespace {

double epsilon_of(Use use) {
  return use == Use::exact ? std::numeric_limits<double>::epsilon()
                           : static_cast<double>(std::numeric_limits<Real>::epsilon());
}

BlockMatrix square(Panels& panels, const Panel& block) {
  BlockMatrix gram(block.columns(), block.columns());
  panels.gram(block, block, gram);
  return gram;
}

/// Columns whose inner products are `gram`; those that are at most `least` long become zero too.
bool orthonormalize(Panels& panels, const Panel& block, BlockMatrix gram, double least) {
  const double dependent = 1e3 * epsilon_of(block.use());
  constexpr double harmless = 0.01;
  for (int pass = 0; pass < 2; ++pass) {
    // Each column by itself first: one that is short is not for that unimportant.
    Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostColumns, 1> scale(block.columns());
    for (Eigen::Index k = 0; k < scale.size(); ++k) {
      const double length = std::sqrt(gram(k, k));
      scale[k] = length <= least ? 0.0 : 1 / length;
    }
    if (scale.isZero(0)) return false;
    const Eigen::SelfAdjointEigenSolver<RitzMatrix> solver(scale.asDiagonal() * gram * scale.asDiagonal());
    BlockMatrix factor = scale.asDiagonal() * solver.eigenvectors();
    bool exact = true;
    for (Eigen::Index k = 0; k < scale.size(); ++k) {
      const double size = solver.eigenvalues()[k];
      factor.col(k) *= size <= dependent ? 0.0 : 1 / std::sqrt(size);
      exact = exact && (size > harmless || size <= dependent);
    }
    panels.combine(0, block, factor, block);
    if (exact) return true;
    gram = square(panels, block);  // nearly dependent columns have rounding to be mended
    least = 0.5;
  }
  return true;
}

}  // namespace

bool orthonormalize(Panels& panels, const Panel& block) {
  return orthonormalize(panels, block, square(panels, block), 0);
}

BlockKrylov::BlockKrylov(Panels& panels, Use use, Index columns, int blocks, SpectrumEnd end)
    : panels_(panels),
      columns_(columns),
      end_(end),
      epsilon_(epsilon_of(use)),
      rest_(panels.make(Side::right, use, columns)) {
  for (int j = 0; j < std::min(blocks, kMostRitz / columns); ++j)
    basis_.push_back(panels.make(Side::right, use, columns));
}

KrylovResult BlockKrylov::leading(FunctionRef<void(int, const Panel&, const Panel&)> apply, const Panel& start,
                                  double relative, int most) {
  KrylovResult result;
  while (true) {
    panels_.copy(start, basis_[0]);
    drift_ = 0;
    bool enough = false;
    int j = 0;
    for (;; ++j) {
      const Eigen::Index size = (j + 1) * columns_;
      apply(j, basis_[static_cast<std::size_t>(j)], rest_);
      ++result.applications;
      const bool last = result.applications >= most || j + 1 == static_cast<int>(basis_.size()) || size >= start.rows();
      BlockMatrix gram(columns_, columns_);  // of the rest
      project(j, last ? nullptr : &gram);
      ritz_.compute(projected_.topLeftCorner(size, size));
      result.eigenvalue = ritz_.eigenvalues()[leading_index()];
      if (last) break;
      const RitzVector own = ritz_.eigenvectors().col(leading_index()).tail(columns_);
      const double residual = std::sqrt(std::max(0.0, own.dot(gram * own)));
      enough = residual <= relative * std::abs(result.eigenvalue) || !extend(j, gram, scale());
      if (enough) break;
    }
    result.blocks = j + 1;
    result.weights = ritz_.eigenvectors().col(leading_index());
    enough = enough || result.weights.size() >= start.rows();
    best(start);
    if (enough || result.applications >= most) return result;
    orthonormalize(panels_, start);
  }
}

void BlockKrylov::project(int j, BlockMatrix* rest_gram) {
  const Eigen::Index size = (j + 1) * columns_;
  projected_.conservativeResize(size, size);
  column_.resize(size, columns_);
  if (rest_gram == nullptr) {
    panels_.gram(basis(j + 1), rest_, column_);
  } else {
    panels_.take_out(basis(j + 1), rest_, column_, *rest_gram);
  }
  projected_.rightCols(columns_) = column_;
  projected_.bottomRows(columns_) = column_.transpose();
}

bool BlockKrylov::extend(int j, const BlockMatrix& gram, double eigenvalue) {
  const double unit = 10 * epsilon_;
  const double most_drift = rest_.use() == Use::exact ? 0 : 1e-3;  // a Ritz value is wrong by about its square
  const double least = 10 * unit * eigenvalue;
  if (!orthonormalize(panels_, rest_, gram, least)) return false;
  double drift = 0;
  for (Eigen::Index k = 0; k < gram.cols(); ++k) {  // what is not orthogonal grows as the rest is stretched
    const double length = std::sqrt(gram(k, k));
    if (length > least) drift = std::max(drift, (drift_ + unit) * eigenvalue / length);
  }
  drift_ = drift;
  if (!(drift_ <= most_drift)) {
    for (int i = 0; i <= j; ++i) {
      const Panel& q = basis_[static_cast<std::size_t>(i)];
      BlockMatrix part(columns_, columns_);
      panels_.gram(q, rest_, part);
      part = -part;
      panels_.combine(1, q, part, rest_);
    }
    orthonormalize(panels_, rest_, square(panels_, rest_), 0.5);
    drift_ = unit;
  }
  panels_.copy(rest_, basis_[static_cast<std::size_t>(j) + 1]);
  return true;
}

Eigen::Index BlockKrylov::leading_index() const {
  const Eigen::Index last = ritz_.eigenvalues().size() - 1;
  if (end_ == SpectrumEnd::largest) return last;
  const bool negative = -ritz_.eigenvalues()[0] > ritz_.eigenvalues()[last];
  return end_ == SpectrumEnd::least || negative ? 0 : last;
}

double BlockKrylov::scale() const {
  const Eigen::Index last = ritz_.eigenvalues().size() - 1;
  if (end_ == SpectrumEnd::largest) return ritz_.eigenvalues()[last];
  return std::max(std::abs(ritz_.eigenvalues()[0]), std::abs(ritz_.eigenvalues()[last]));
}

void BlockKrylov::best(const Panel& out) {
  const Eigen::Index size = ritz_.eigenvalues().size();
  if (end_ == SpectrumEnd::largest) {
    column_ = ritz_.eigenvectors().rightCols(columns_).rowwise().reverse();
  } else {
    column_ = ritz_.eigenvectors().col(leading_index());
  }
  panels_.combine(0, basis(static_cast<int>(size / columns_)), column_, out);
}

double leading_eigenvector(FunctionRef<void(const Eigen::VectorXd&, Eigen::VectorXd&)> apply, Eigen::VectorXd& v,
                           double relative, int most) {
  const auto size = static_cast<Index>(v.size());
  const Execution here(1);
  cpu::CpuPanels panels(size, {}, Shards({{0, 0}}), here);
  const Panel start = panels.make(Side::right, Use::exact, 1);
  panels.upload(v, start);
  orthonormalize(panels, start);
  BlockKrylov krylov(panels, Use::exact, 1, kMostRitz);
  Eigen::VectorXd product(size);
  const KrylovResult found = krylov.leading(
      [&](int, const Panel& q, const Panel& out) {
        const Eigen::VectorXd in = panels.download(q);
        apply(in, product);
        panels.upload(product, out);
      },
      start, relative, most);
  v = panels.download(start);
  return found.eigenvalue;
}

}  // namespace tracenorm
