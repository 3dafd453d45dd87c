#include "solver/unseen_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tracenorm {

void UnseenSearch::learn(const RitzVector& eigenvalues) {
  shifts_.resize(0);
  leading_ = eigenvalues.cwiseMax(0.0);
  std::sort(leading_.begin(), leading_.end(), std::greater<>());
  if (leading_.size() == 0 || !std::isfinite(leading_[0]) || leading_[0] <= 0) return;
  // Leja's order: every shift makes the product of distances to those before it as large as can be.
  RitzVector order = leading_;
  for (Eigen::Index chosen = 1; chosen < order.size(); ++chosen) {
    Eigen::Index best = chosen;
    double farthest = -1;
    for (Eigen::Index k = chosen; k < order.size(); ++k) {
      const double distance = ((order.head(chosen).array() - order[k]) / order[0]).abs().prod();
      if (distance > farthest) farthest = distance, best = k;
    }
    std::swap(order[chosen], order[best]);
  }
  shifts_ = order;
}

void UnseenSearch::extend(int j, const Panel& block, const Panel& rest, const Panel& next) {
  const Eigen::Index columns = block.columns();
  const double scale = 1 / shifts_[0];
  // Every column of the start is near an eigenvector of its own; what follows is of the whole spectrum.
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostColumns, 1> shift(columns);
  for (Eigen::Index k = 0; k < columns; ++k) {
    const Eigen::Index own = j == 0 ? k : j;
    const RitzVector& from = j == 0 ? leading_ : shifts_;
    shift[k] = own < from.size() ? from[own] : 0.0;
  }
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 2 * kMostColumns, kMostColumns> small(2 * columns, columns);
  small << scale * BlockMatrix::Identity(columns, columns), BlockMatrix((-scale * shift).asDiagonal());
  const std::array<Panel, 2> both{rest, block};
  panels_.combine(0, both, small, next);
}

RitzMatrix UnseenSearch::ritz_vectors(Eigen::Index size, double dependent) {
  RitzVector scale(size);
  for (Eigen::Index k = 0; k < size; ++k) scale[k] = gram_(k, k) > 0 ? 1 / std::sqrt(gram_(k, k)) : 0.0;
  solver_.compute(scale.asDiagonal() * gram_.topLeftCorner(size, size) * scale.asDiagonal());
  const RitzVector squares = solver_.eigenvalues();
  Eigen::Index kept = 0;
  while (kept < size && squares[size - 1 - kept] > dependent * squares[size - 1]) ++kept;
  const RitzMatrix span = scale.asDiagonal() * solver_.eigenvectors().rightCols(kept) *
                          squares.tail(kept).cwiseSqrt().cwiseInverse().asDiagonal();
  solver_.compute(span.transpose() * image_gram_.topLeftCorner(size, size) * span);
  return span * solver_.eigenvectors();
}

bool UnseenSearch::find(FunctionRef<void(int, const Panel&, const Panel&)> apply, PanelList basis, const Panel& rest,
                        PanelList images, const Panel& start, double dependent, KrylovResult& result) {
  const auto products = static_cast<int>(images.size());
  const Eigen::Index columns = start.columns();
  const PanelList blocks = basis.first(images.size());
  panels_.copy(start, blocks[0]);
  for (int j = 0; j < products; ++j) {
    const Panel& block = blocks[static_cast<std::size_t>(j)];
    const bool last = j + 1 == products;
    apply(j, block, last ? Panel() : rest);
    if (!last) extend(j, block, rest, blocks[static_cast<std::size_t>(j) + 1]);
  }
  gram_.resize(products * columns, products * columns);
  image_gram_.resize(products * columns, products * columns);
  panels_.grams(blocks, gram_, images, image_gram_);
  shifts_.resize(0);
  if (!gram_.allFinite() || !image_gram_.allFinite() || gram_.isZero(0)) return false;
  const auto largest = [this] { return solver_.eigenvalues()[solver_.eigenvalues().size() - 1]; };
  const bool several = products > 1 && ritz_vectors(gram_.rows() - columns, dependent).cols() > 0;
  const double before = several ? largest() : 0.0;
  const RitzMatrix vectors = ritz_vectors(gram_.rows(), dependent);
  gain_ = 1 - before / largest();
  learn(solver_.eigenvalues());
  const Eigen::Index found = vectors.cols();
  result = {solver_.eigenvalues()[found - 1], products, vectors.col(found - 1), products};
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostRitz, kMostColumns> best(vectors.rows(), columns);
  best.setZero();
  const Eigen::Index few = std::min(columns, found);
  best.leftCols(few) = vectors.rightCols(few).rowwise().reverse();
  panels_.combine(0, blocks, best, start);
  return true;
}

}  // namespace tracenorm
