#include "fit/rows_of_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tracenorm {

namespace {

/// Rounds of weighted least squares, and steps of conjugate gradients in each. What is left is for the descent that
/// follows, on everything.
constexpr int kReweightings = 3;
constexpr int kSteps = 6;

/// Where the gradient has fallen to this share (squared) a row is done.
constexpr double kRowSettled = 1e-6;

using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using Features = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A loss near its minimum: bend * r^2 / 2 up to |r| = delta, linear beyond.
struct Curve {
  double delta;
  double bend;
};

Curve curve_of(const Loss& loss) {
  if (const auto* squared = std::get_if<losses::Squared>(&loss))
    return {std::numeric_limits<double>::infinity(), 2 * squared->weight};
  const auto* huber = std::get_if<losses::Huber>(&loss);
  return {huber != nullptr ? huber->delta : 1, 1};
}

/// One thread's work on its rows, one after another: numbers of a row stay in its caches.
class RowSolver {
 public:
  RowSolver(const Curve& curve, const Features& right)
      : delta_(static_cast<Real>(curve.delta)), bend_(static_cast<Real>(curve.bend)), right_(right) {}

  /// Remembers the columns of a row's entries.
  template <class Column>
  void take(const Column* col, Index count) {
    features_.resize(count, right_.cols());
    for (Index e = 0; e < count; ++e) features_.row(e) = right_.row(col[e]);
  }

  /// Improves z, which should predict `rest`.
  void solve(const Vector& rest, const Vector& weight, const Vector& ridge, Vector& z) {
    for (int round = 0; round < kReweightings; ++round) {
      // A weighted square touches the loss at the residual and lies above it elsewhere (see refitted_offsets.cpp).
      error_.noalias() = features_ * z;
      error_ -= rest;
      curvature_ =
          error_.unaryExpr([&](Real r) { return std::abs(r) > delta_ ? delta_ * bend_ / std::abs(r) : bend_; });
      if (weight.size() > 0) curvature_.array() *= weight.array();
      error_.array() *= curvature_.array();
      gradient_.noalias() = features_.transpose() * error_;
      gradient_ += ridge.cwiseProduct(z);
      descend(ridge, z);
    }
  }

 private:
  /// Conjugate gradients on the weighted squares.
  void descend(const Vector& ridge, Vector& z) {
    direction_ = -gradient_;
    double square = gradient_.squaredNorm();
    const double enough = kRowSettled * square;
    for (int step = 0; step < kSteps && square > enough; ++step) {
      product_.noalias() = features_ * direction_;
      product_.array() *= curvature_.array();
      bent_.noalias() = features_.transpose() * product_;
      bent_ += ridge.cwiseProduct(direction_);
      const double bend = direction_.dot(bent_);
      if (!(bend > 0)) return;
      const auto length = static_cast<Real>(square / bend);
      z += length * direction_;
      gradient_ += length * bent_;
      const double next = gradient_.squaredNorm();
      direction_ = static_cast<Real>(next / square) * direction_ - gradient_;
      square = next;
    }
  }

  Real delta_;
  Real bend_;
  const Features& right_;
  Features features_;
  Vector error_, curvature_, gradient_, direction_, product_, bent_;
};

}  // namespace

Eigen::MatrixXd rows_given_columns(const Loss& loss, const SparseObservations& data, const ColumnSide& columns,
                                   const std::vector<double>& price, std::vector<double>& row_offset,
                                   const Execution& execution) {
  const auto terms = columns.right.cols();
  const auto width = terms + (columns.fits_offsets ? 1 : 0);
  Features right(columns.right.rows(), width);
  right.leftCols(terms) = columns.right.cast<Real>();
  if (columns.fits_offsets) right.col(terms).setOnes();
  Eigen::MatrixXd left = Eigen::MatrixXd::Zero(data.pattern.rows(), terms);
  const Offset* begin = data.pattern.begin();
  constexpr Offset shards = 256;
  const std::vector<Index> cuts = cut_rows_into(shards, data.pattern.rows(), data.pattern.entries(), begin);
  data.pattern.col().visit([&](const auto* col) {
    execution.for_each_shard(static_cast<int>(cuts.size()) - 1, [&](int s) {
      RowSolver solver(curve_of(loss), right);
      Vector rest, weight, ridge(width), z(width);
      for (Index i = cuts[static_cast<std::size_t>(s)]; i < cuts[static_cast<std::size_t>(s) + 1]; ++i) {
        const auto count = static_cast<Index>(begin[i + 1] - begin[i]);
        if (count == 0) continue;
        double& offset = row_offset[static_cast<std::size_t>(i)];
        const auto known = columns.fits_offsets ? 0.0 : offset;
        rest.resize(count);
        weight.resize(data.weight.empty() ? 0 : count);
        for (Index e = 0; e < count; ++e) {
          const auto at = static_cast<std::size_t>(begin[i] + e);
          const double other = columns.col_offset[static_cast<std::size_t>(col[at])];
          rest[e] = static_cast<Real>(double(data.value[at]) - other - known);
          if (weight.size() > 0) weight[e] = static_cast<Real>(data.weight[at]);
        }
        ridge.setConstant(static_cast<Real>(price[static_cast<std::size_t>(i)]));
        z.setZero();
        if (columns.fits_offsets) {
          ridge[terms] = static_cast<Real>(2 * columns.ridge);
          z[terms] = static_cast<Real>(offset);
        }
        solver.take(col + begin[i], count);
        solver.solve(rest, weight, ridge, z);
        left.row(i) = z.head(terms).cast<double>();
        if (columns.fits_offsets) offset = z[terms];
      }
    });
  });
  return left;
}

}  // namespace tracenorm
