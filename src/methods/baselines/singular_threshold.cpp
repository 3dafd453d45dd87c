#include "methods/baselines/singular_threshold.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/lapack.hpp"
#include "linalg/spectral_bound.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::baselines {

namespace {

/// Up to this side a full decomposition costs less than the loops around it.
constexpr Index kSmallSide = 96;
/// A block of more than this share of the side is not worth its products.
constexpr Index kMostBlocks = 4;
/// Columns beyond the rank: convergence follows the gap to the last of them.
constexpr Index kExtra = 10;
/// After a block has failed, it is left alone for this many calls.
constexpr int kPause = 10;

/// out = A block, rows by shards.
void multiply(const RowMatrix& a, const Eigen::MatrixXd& block, Eigen::MatrixXd& out, const Execution& execution) {
  out.resize(a.rows(), block.cols());
  const auto cols = static_cast<int>(a.cols());
  const std::vector<Index> cuts = cut_rows(static_cast<Index>(a.rows()), a.size(), nullptr);
  execution.for_each_shard(static_cast<int>(cuts.size()) - 1, [&](int s) {
    const Index from = cuts[static_cast<std::size_t>(s)];
    const Index count = cuts[static_cast<std::size_t>(s) + 1] - from;
    lapack::gemm(lapack::Shape::transposed, lapack::Shape::plain, count, static_cast<int>(block.cols()), cols, 1.0,
                 a.data() + static_cast<Offset>(from) * cols, cols, block.data(), cols, 0.0, out.data() + from,
                 static_cast<int>(a.rows()));
  });
}

/// out = A' block, columns by shards: each output row is summed by one shard.
void multiply_transpose(const RowMatrix& a, const Eigen::MatrixXd& block, Eigen::MatrixXd& out,
                        const Execution& execution) {
  out.resize(a.cols(), block.cols());
  const auto rows = static_cast<int>(a.rows());
  const auto cols = static_cast<int>(a.cols());
  const std::vector<Index> cuts = cut_rows(cols, a.size(), nullptr);
  execution.for_each_shard(static_cast<int>(cuts.size()) - 1, [&](int s) {
    const Index from = cuts[static_cast<std::size_t>(s)];
    const Index count = cuts[static_cast<std::size_t>(s) + 1] - from;
    lapack::gemm(lapack::Shape::plain, lapack::Shape::plain, count, static_cast<int>(block.cols()), rows, 1.0,
                 a.data() + from, cols, block.data(), rows, 0.0, out.data() + from, cols);
  });
}

/// All triplets above the threshold from the eigenvectors of the Gram matrix. Measured on one core, n = 750 and 2000:
/// 0.17 and 3.1 s, dgesdd 0.33 and 7.6 s, sgesdd 0.17 and 3.2 s. Its values are wrong by about 1e-16 sigma_1^2 / sigma
/// (those of sgesdd by 3e-7 sigma_1): fine unless the threshold is tiny.
Triplets from_gram(const RowMatrix& a, double threshold, const Execution& execution) {
  Eigen::MatrixXd vectors = small_gram(a);
  const Eigen::VectorXd squares = lapack::eigenvectors(vectors);
  const Eigen::Index side = squares.size();
  Eigen::Index kept = 0;  // eigenvalues ascend
  while (kept < side && squares[side - 1 - kept] > threshold * threshold) ++kept;
  Triplets t;
  t.values = squares.tail(kept).reverse().cwiseSqrt();
  Eigen::MatrixXd near = vectors.rightCols(kept).rowwise().reverse();
  Eigen::MatrixXd far;
  const bool of_columns = a.cols() <= a.rows();
  of_columns ? multiply(a, near, far, execution) : multiply_transpose(a, near, far, execution);
  far *= t.values.cwiseInverse().asDiagonal();
  if (!of_columns) std::swap(near, far);
  t.left = std::move(far);
  t.right = std::move(near);
  return t;
}

}  // namespace

Eigen::MatrixXd small_gram(const RowMatrix& a) {
  const auto rows = static_cast<int>(a.rows());
  const auto cols = static_cast<int>(a.cols());
  const bool of_columns = cols <= rows;
  const int side = of_columns ? cols : rows;
  Eigen::MatrixXd gram(side, side);
  lapack::add_square(of_columns ? lapack::Shape::plain : lapack::Shape::transposed, side, of_columns ? rows : cols,
                     a.data(), cols, 0.0, gram.data());
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram;
}

SingularThreshold::SingularThreshold(Index rows, Index cols, std::uint64_t seed, const Execution& execution)
    : execution_(execution), rows_(rows), cols_(cols), random_(seed) {}

LowRankMatrix SingularThreshold::operator()(const RowMatrix& a, double threshold, double accuracy) {
  const bool small = std::min(rows_, cols_) <= kSmallSide;
  const bool use_block = !small && full_calls_ == 0;
  if (full_calls_ > 0) --full_calls_;
  proved_ = !use_block || !partial(a, threshold, accuracy);
  if (proved_) full(a, threshold);
  kept_ = 0;
  while (kept_ < t_.values.size() && t_.values[kept_] > threshold) ++kept_;
  return {t_.left.leftCols(kept_), (t_.values.head(kept_).array() - threshold).matrix(), t_.right.leftCols(kept_)};
}

void SingularThreshold::enlarge(Index columns) {
  const auto old = std::min<Eigen::Index>(t_.right.cols(), columns);
  Eigen::MatrixXd block = random_block(cols_, columns, random_);
  // Two columns stay random, for directions that the old block knows nothing of.
  const Eigen::Index warm = std::min<Eigen::Index>(old, columns - 2);
  if (warm > 0) block.leftCols(warm) = t_.right.leftCols(warm);
  t_ = {};
  t_.right = std::move(block);
}

/// The triplets above the threshold by subspace iteration. With A' U = V S exactly and R = A V - U S, the matrix A - R
/// V' has (U, S, V) among its triplets, and SVT does not expand: the answer is wrong by at most |R|_F, if nothing else
/// is above the threshold.
bool SingularThreshold::partial(const RowMatrix& a, double threshold, double accuracy) {
  const Index side = std::min(rows_, cols_);
  const Index most = side / kMostBlocks;
  for (Index block = kept_ + kExtra; block <= most; block *= 2) {
    enlarge(block);
    int used = 0;
    const bool accurate = subspace_iteration(
        [&](const Eigen::MatrixXd& in, Eigen::MatrixXd& out) { multiply(a, in, out, execution_), ++used; },
        [&](const Eigen::MatrixXd& in, Eigen::MatrixXd& out) { multiply_transpose(a, in, out, execution_); },
        [&](const Eigen::VectorXd& values, const Eigen::VectorXd& errors) {
          const auto kept = (values.array() > threshold).count();
          return kept == values.size() || errors.head(kept).norm() <= accuracy;
        },
        side / block, t_);
    work_ += 2.0 * used * static_cast<double>(a.size()) * block;
    if (accurate && t_.values[block - 1] <= threshold) return true;
    if (!accurate) break;
  }
  full_calls_ = kPause;
  return false;
}

void SingularThreshold::full(const RowMatrix& a, double threshold) {
  constexpr double tiny_threshold = 1e-6;
  const double side = std::min(rows_, cols_);
  work_ += static_cast<double>(a.size()) * side + 9 * side * side * side;
  t_ = threshold > tiny_threshold * a.norm() ? from_gram(a, threshold, execution_) : lapack::svd(a);
}

bool SingularThreshold::confirm(const RowMatrix& a, double threshold) {
  if (proved_) return true;
  const double side = std::min(rows_, cols_);
  work_ += static_cast<double>(a.size()) * side + side * side * side / 3;
  // (A - U S V')' (A - U S V') = A'A - V S^2 V', because A' U = V S; on the left side the same up to the accuracy.
  Eigen::MatrixXd gram = small_gram(a);
  const Eigen::MatrixXd near =
      (cols_ <= rows_ ? t_.right : t_.left).leftCols(kept_) * t_.values.head(kept_).asDiagonal();
  gram.noalias() -= near * near.transpose();
  constexpr double slack = 1e-6;  // a value this little above the threshold would change nothing
  const double square = threshold * threshold;
  proved_ = cholesky_bound(gram, square, slack / 10) <= square * (1 + slack);
  if (!proved_) full_calls_ = kPause;
  return proved_;
}

void SingularThreshold::exchange(Exchange state) {
  state.random("random", random_);
  state.matrix("left", t_.left);
  state.matrix("values", t_.values);
  state.matrix("right", t_.right);
  state.number("kept", kept_);
  state.number("proved", proved_);
  state.number("full_calls", full_calls_);
  state.number("work", work_);
}

}  // namespace tracenorm::baselines
