// The largest eigenvalue of a positive semidefinite operator A (here always the fused G'G) by Lanczos with full
// reorthogonalisation. A template over the operator: anything callable as apply(v, out) on vectors.
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tracenorm/types.hpp"

namespace tracenorm {

/// Memory of a Lanczos run, kept between runs so that none of them allocates.
struct LanczosWorkspace {
  Eigen::MatrixXd basis;       // n x steps
  Eigen::VectorXd next;        // n
  Eigen::VectorXd diagonal;    // of the tridiagonal T
  Eigen::VectorXd off;         // beside it
  Eigen::VectorXd projection;  // scratch of the reorthogonalisation

  void prepare(Eigen::Index n, Eigen::Index steps) {
    if (basis.rows() == n && basis.cols() >= steps) return;
    basis.resize(n, steps);
    next.resize(n);
    diagonal.resize(steps);
    off.resize(steps);
    projection.resize(steps);
  }
};

struct LanczosResult {
  double eigenvalue = 0;  ///< the largest Ritz value: a lower bound of the largest eigenvalue
  double residual = 0;    ///< |A v - eigenvalue v|
  int products = 0;
};

namespace detail {

/// How many Lanczos vectors are kept before a restart from the best Ritz vector. The small eigenproblems live on the
/// stack.
inline constexpr int kLanczosBlock = 32;

inline double tridiagonal_scale(const LanczosWorkspace& work, int size) {
  const double largest = work.diagonal.head(size).cwiseAbs().maxCoeff();
  return largest > 0 ? largest : 1.0;
}

template <int kMax>
struct SmallTridiagonal {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMax, kMax>;
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMax, 1>;
  Eigen::SelfAdjointEigenSolver<Matrix> solver;
  double scale = 1;

  /// Scaled to about one: the eigensolver's idea of a negligible entry is an absolute one.
  void compute(const LanczosWorkspace& work, int size) {
    scale = tridiagonal_scale(work, size);
    const Vector diagonal = work.diagonal.head(size) / scale;
    const Vector off = work.off.head(std::max(0, size - 1)) / scale;
    solver.computeFromTridiagonal(diagonal, off, Eigen::ComputeEigenvectors);
  }
  [[nodiscard]] double largest() const { return scale * solver.eigenvalues()[solver.eigenvalues().size() - 1]; }
  [[nodiscard]] auto vector() const { return solver.eigenvectors().col(solver.eigenvalues().size() - 1); }
};

/// One Lanczos step from basis column j: fills diagonal[j], off[j] and, unless the space is exhausted, basis column j+1
/// when there is room. Returns off[j].
template <class Apply>
double lanczos_step(Apply&& apply, LanczosWorkspace& work, int j, bool store_next) {
  apply(work.basis.col(j), work.next);
  work.diagonal[j] = work.basis.col(j).dot(work.next);
  // Two passes of classical Gram-Schmidt against everything so far: as good as exact arithmetic, and no selective
  // tests.
  const auto span = work.basis.leftCols(j + 1);
  for (int pass = 0; pass < 2; ++pass) {
    work.projection.head(j + 1).noalias() = span.transpose() * work.next;
    work.next.noalias() -= span * work.projection.head(j + 1);
  }
  work.off[j] = work.next.norm();
  if (store_next && work.off[j] > 0) work.basis.col(j + 1) = work.next / work.off[j];
  return work.off[j];
}

}  // namespace detail

/// The leading pair, started from `v` (need not be normalised, must not be zero), restarted from the best Ritz vector
/// when the basis is full. Stops when the residual is below relative * eigenvalue, or after `max_products`.
template <class Apply>
LanczosResult lanczos_leading(Apply&& apply, Eigen::VectorXd& v, double relative, int max_products,
                              LanczosWorkspace& work) {
  const int block = static_cast<int>(std::min<Eigen::Index>(detail::kLanczosBlock, v.size()));
  work.prepare(v.size(), block);
  LanczosResult result;
  detail::SmallTridiagonal<detail::kLanczosBlock> small;
  while (true) {
    work.basis.col(0) = v / v.norm();
    int size = 0;
    bool done = false;
    int next_check = 1;
    while (!done) {
      const double beta = detail::lanczos_step(apply, work, size, size + 1 < block);
      ++size;
      ++result.products;
      // Rounding floor: beyond it the space is invariant and the answer exact.
      const double floor = 1e-14 * std::max(work.diagonal.head(size).maxCoeff(), 0.0);
      const bool exhausted = !(beta > floor);
      const bool last = exhausted || size == block || result.products >= max_products;
      if (!last && size < next_check) continue;
      next_check = size + 1 + size / 8;  // the small eigenproblem grows: look less often
      small.compute(work, size);
      result.eigenvalue = small.largest();
      result.residual = exhausted ? 0.0 : beta * std::abs(small.vector()(size - 1));
      done = last || result.residual <= relative * result.eigenvalue;
    }
    v.noalias() = work.basis.leftCols(size) * small.vector();
    const bool converged = result.residual <= relative * result.eigenvalue || size == v.size();
    if (converged || result.products >= max_products) return result;
  }
}

namespace detail {

/// Dot products in Real of blocks that are short enough not to lose digits, added in double.
template <class A, class B>
double blocked_dot(const A& a, const B& b) {
  constexpr Eigen::Index block = 4096;
  double sum = 0;
  for (Eigen::Index from = 0; from < a.size(); from += block) {
    const Eigen::Index count = std::min(block, a.size() - from);
    sum += double(a.segment(from, count).dot(b.segment(from, count)));
  }
  return sum;
}

}  // namespace detail

/// Memory of `lanczos_value`: the basis in Real, which is half of what there is to keep and to read.
struct LanczosValueWorkspace {
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> basis;
  Eigen::Matrix<Real, Eigen::Dynamic, 1> rest;
  Eigen::VectorXd vector;
  Eigen::VectorXd product;
};

/// Rounding of a basis in Real moves the largest Ritz value by less than this share of it.
inline constexpr double kLanczosValueRounding = 100 * static_cast<double>(std::numeric_limits<Real>::epsilon());

/// `steps` Lanczos steps from `start` without a restart: only the largest Ritz value, from above by its rounding. For
/// probabilistic bounds, whose theorem is about exactly this.
template <class Apply>
double lanczos_value(Apply&& apply, const Eigen::VectorXd& start, int steps, LanczosValueWorkspace& work,
                     int* products) {
  steps = static_cast<int>(std::min<Eigen::Index>(steps, start.size()));
  if (work.basis.rows() != start.size() || work.basis.cols() < steps) work.basis.resize(start.size(), steps);
  work.basis.col(0) = start.normalized().cast<Real>();
  Eigen::VectorXd diagonal(steps);
  Eigen::VectorXd off(steps);
  double scale = 0;  // of the matrix
  int size = 0;
  while (size < steps) {
    work.vector = work.basis.col(size).cast<double>();
    apply(std::as_const(work.vector), work.product);
    diagonal[size] = work.vector.dot(work.product) / work.vector.squaredNorm();
    scale = std::max(scale, diagonal[size]);
    const double length = work.product.norm();
    work.rest = (work.product * (length > 0 ? 1 / length : 1.0)).cast<Real>();  // in the range of Real whatever A is
    for (int pass = 0; pass < 2; ++pass) {  // modified Gram-Schmidt, twice: sums in double, one vector at a time
      for (int j = 0; j <= size; ++j) {
        const auto known = work.basis.col(j);
        work.rest -= Real(detail::blocked_dot(known, work.rest)) * known;
      }
    }
    work.vector = work.rest.cast<double>();
    const double rest = work.vector.norm();
    off[size] = rest * length;
    ++size;
    if (size == steps || !(rest > kLanczosValueRounding)) break;
    work.basis.col(size) = work.rest * Real(1 / rest);
  }
  *products += size;
  if (!(scale > 0)) return 0;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal.head(size) / scale, off.head(size - 1) / scale, Eigen::EigenvaluesOnly);
  return scale * solver.eigenvalues()[size - 1] * (1 + kLanczosValueRounding);
}

}  // namespace tracenorm
