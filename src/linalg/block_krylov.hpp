// The leading eigenvectors of a positive semidefinite operator A to a few digits, from a block of start vectors, in as
// few applications as possible: a block costs little more to multiply than a vector where an entry is looked up in
// memory, and what the last call found is nearly what this one will find.
//
// Everything as long as a vector is in Real: A is applied in Real too, and who wants more digits takes lanczos.hpp.
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracenorm/types.hpp"

namespace tracenorm {

/// A few vectors, side by side.
using RealBlock = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace detail {

/// How many blocks are kept before a restart from the best Ritz vectors, and how wide they may be. The small problems
/// live on the stack.
inline constexpr int kKrylovBlocks = 8;
inline constexpr int kMostWidth = 4;
inline constexpr int kMostRitz = kKrylovBlocks * kMostWidth;
using BlockMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostWidth, kMostWidth>;
using RitzMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostRitz, kMostRitz>;
using RitzVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostRitz, 1>;

/// Calls work with the width as a constant.
template <class Work>
decltype(auto) with_width(Eigen::Index width, Work&& work) {
  return width == 1 ? work(std::integral_constant<int, 1>{}) : work(std::integral_constant<int, kMostWidth>{});
}

/// a' b. Sums in Real stay short.
inline BlockMatrix inner_products(const RealBlock& a, const RealBlock& b) {
  return with_width(a.cols(), [&](auto width) {
    constexpr Eigen::Index block = 256;
    BlockMatrix sum = BlockMatrix::Zero(width(), width());
    for (Eigen::Index from = 0; from < a.rows(); from += block) {
      Real part[width()][width()] = {};
      const Eigen::Index to = std::min(a.rows(), from + block);
      for (Eigen::Index r = from; r < to; ++r) {
        const Real* x = a.data() + r * width();
        const Real* y = b.data() + r * width();
        for (int i = 0; i < width(); ++i) {
          for (int k = 0; k < width(); ++k) part[i][k] += x[i] * y[k];
        }
      }
      for (int i = 0; i < width(); ++i) {
        for (int k = 0; k < width(); ++k) sum(i, k) += double(part[i][k]);
      }
    }
    return sum;
  });
}

/// out <- keep * out + a m. `a` may be `out`.
inline void combine(Real keep, const RealBlock& a, const BlockMatrix& m, RealBlock& out) {
  with_width(a.cols(), [&](auto width) {
    Real weight[width()][width()];
    for (int i = 0; i < width(); ++i) {
      for (int k = 0; k < width(); ++k) weight[i][k] = Real(m(i, k));
    }
    for (Eigen::Index r = 0; r < a.rows(); ++r) {
      const Real* x = a.data() + r * width();
      Real* y = out.data() + r * width();
      Real sum[width()];
      for (int k = 0; k < width(); ++k) sum[k] = keep * y[k];
      for (int i = 0; i < width(); ++i) {
        for (int k = 0; k < width(); ++k) sum[k] += x[i] * weight[i][k];
      }
      for (int k = 0; k < width(); ++k) y[k] = sum[k];
    }
  });
}

/// Makes the columns, whose inner products are `gram`, orthonormal; those that are at most `least` long, or depend on
/// others, become zero. False when all are. A column that is not finite stays so.
inline bool orthonormalize(RealBlock& block, BlockMatrix gram, double least) {
  constexpr double dependent = 1e3 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  constexpr double harmless = 0.01;
  for (int pass = 0; pass < 2; ++pass) {
    // Each column by itself first: one that is short is not for that unimportant.
    Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostWidth, 1> scale(block.cols());
    for (Eigen::Index k = 0; k < block.cols(); ++k) {
      const double length = std::sqrt(gram(k, k));
      scale[k] = length <= least ? 0.0 : 1 / length;
    }
    if (scale.isZero(0)) return false;
    const Eigen::SelfAdjointEigenSolver<BlockMatrix> solver(scale.asDiagonal() * gram * scale.asDiagonal());
    BlockMatrix factor = scale.asDiagonal() * solver.eigenvectors();
    bool exact = true;
    for (Eigen::Index k = 0; k < block.cols(); ++k) {
      const double square = solver.eigenvalues()[k];
      factor.col(k) *= square <= dependent ? 0.0 : 1 / std::sqrt(square);
      exact = exact && (square > harmless || square <= dependent);
    }
    combine(Real(0), block, factor, block);
    if (exact) return true;
    gram = inner_products(block, block);  // nearly dependent columns have rounding to be mended
    least = 0.5;
  }
  return true;
}
inline bool orthonormalize(RealBlock& block) { return orthonormalize(block, inner_products(block, block), 0); }

}  // namespace detail

struct KrylovResult {
  double eigenvalue = 0;       ///< the largest Ritz value: a lower bound of the largest eigenvalue, up to rounding
  int blocks = 0;              ///< the Ritz vector is a combination of the columns of this many blocks
  detail::RitzVector weights;  ///< with these weights
  int applications = 0;
};

class BlockKrylov {
 public:
  /// Takes the memory for vectors of this size, which is not touched before it is used.
  void reserve(Eigen::Index rows, Eigen::Index width) {
    for (RealBlock& block : basis_) block.resize(rows, width);
    rest_.resize(rows, width);
  }

  /// apply(j, Q, out) makes out = A Q for the j-th block of the basis, `block(j)`. `start`, one vector or four, must
  /// have orthonormal columns; it becomes the best Ritz vectors, ready for the next call. Stops when the residual of
  /// the leading one is below relative * eigenvalue, or after `most` applications.
  template <class Apply>
  KrylovResult leading(Apply&& apply, RealBlock& start, double relative, int most) {
    const Eigen::Index width = start.cols();
    KrylovResult result;
    while (true) {
      basis_[0] = start;
      drift_ = 0;
      bool enough = false;
      int j = 0;
      for (;; ++j) {
        const Eigen::Index size = (j + 1) * width;
        apply(j, std::as_const(basis_[static_cast<std::size_t>(j)]), rest_);
        ++result.applications;
        project(j, width);
        ritz_.compute(projected_.topLeftCorner(size, size));
        result.eigenvalue = ritz_.eigenvalues()[size - 1];
        if (result.applications >= most || j + 1 == detail::kKrylovBlocks || size >= start.rows()) break;
        take_out_basis(j, width);
        const detail::BlockMatrix gram = detail::inner_products(rest_, rest_);
        const detail::RitzVector own = ritz_.eigenvectors().col(size - 1).tail(width);
        const double residual = std::sqrt(std::max(0.0, own.dot(gram * own)));
        enough = residual <= relative * result.eigenvalue || !extend(j, gram, result.eigenvalue);
        if (enough) break;
      }
      result.blocks = j + 1;
      result.weights = ritz_.eigenvectors().rightCols(1);
      enough = enough || result.weights.size() >= start.rows();
      best(start);
      if (enough || result.applications >= most) return result;
      detail::orthonormalize(start);
    }
  }

  [[nodiscard]] const RealBlock& block(int j) const { return basis_[static_cast<std::size_t>(j)]; }

 private:
  /// The new block's rows and columns of Q' A Q.
  void project(int j, Eigen::Index width) {
    projected_.conservativeResize((j + 1) * width, (j + 1) * width);
    for (int i = 0; i <= j; ++i) {
      const detail::BlockMatrix h = detail::inner_products(basis_[static_cast<std::size_t>(i)], rest_);
      projected_.block(i * width, j * width, width, width) = h;
      projected_.block(j * width, i * width, width, width) = h.transpose();
    }
  }

  /// A Q less its part in the span of the basis; its inner products with the basis are known.
  void take_out_basis(int j, Eigen::Index width) {
    for (int i = 0; i <= j; ++i) {
      detail::combine(Real(1), basis_[static_cast<std::size_t>(i)],
                      -projected_.block(i * width, j * width, width, width), rest_);
    }
  }

  /// Makes the rest, whose inner products are `gram`, the next block of the basis. False when there is nothing left but
  /// rounding.
  bool extend(int j, const detail::BlockMatrix& gram, double eigenvalue) {
    constexpr double unit = 10 * static_cast<double>(std::numeric_limits<Real>::epsilon());
    constexpr double most_drift = 1e-3;
    const double least = 10 * unit * eigenvalue;
    if (!detail::orthonormalize(rest_, gram, least)) return false;
    double drift = 0;
    for (Eigen::Index k = 0; k < gram.cols(); ++k) {  // what is not orthogonal grows as the rest is stretched
      const double length = std::sqrt(gram(k, k));
      if (length > least) drift = std::max(drift, (drift_ + unit) * eigenvalue / length);
    }
    drift_ = drift;
    if (!(drift_ <= most_drift)) {
      for (int i = 0; i <= j; ++i) {
        const RealBlock& q = basis_[static_cast<std::size_t>(i)];
        detail::combine(Real(1), q, -detail::inner_products(q, rest_), rest_);
      }
      detail::orthonormalize(rest_, detail::inner_products(rest_, rest_), 0.5);
      drift_ = unit;
    }
    basis_[static_cast<std::size_t>(j) + 1] = rest_;
    return true;
  }

  /// The best Ritz vectors, descending.
  void best(RealBlock& out) const {
    const Eigen::Index width = out.cols();
    const Eigen::Index size = ritz_.eigenvalues().size();
    for (Eigen::Index i = 0; i * width < size; ++i) {
      const detail::BlockMatrix weights =
          ritz_.eigenvectors().rightCols(width).middleRows(i * width, width).rowwise().reverse();
      detail::combine(i == 0 ? Real(0) : Real(1), basis_[static_cast<std::size_t>(i)], weights, out);
    }
  }

  std::vector<RealBlock> basis_ = std::vector<RealBlock>(detail::kKrylovBlocks);
  RealBlock rest_;
  double drift_ = 0;  // how far the basis may be from orthogonal
  detail::RitzMatrix projected_;
  Eigen::SelfAdjointEigenSolver<detail::RitzMatrix> ritz_;
};

}  // namespace tracenorm
