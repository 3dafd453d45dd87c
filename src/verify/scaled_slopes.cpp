#include "verify/scaled_slopes.hpp"

#include <utility>

namespace tracenorm::rigorous {

namespace {

/// Compressed rows of the transposed matrix.
void turn(ScaledSlopes& matrix) {
  std::vector<double> value(matrix.value.size());
  if (matrix.everywhere) {
    const auto rows = static_cast<std::size_t>(matrix.rows);
    const auto cols = static_cast<std::size_t>(matrix.cols);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; ++j) value[j * rows + i] = matrix.value[i * cols + j];
    }
  } else {
    std::vector<Offset> begin(static_cast<std::size_t>(matrix.cols) + 1, 0);
    for (const Index j : matrix.col) ++begin[static_cast<std::size_t>(j) + 1];
    for (std::size_t j = 1; j < begin.size(); ++j) begin[j] += begin[j - 1];
    std::vector<Offset> next(begin.begin(), begin.end() - 1);
    std::vector<Index> col(matrix.col.size());
    for (Index i = 0; i < matrix.rows; ++i) {
      for (Offset e = matrix.begin[static_cast<std::size_t>(i)]; e < matrix.begin[static_cast<std::size_t>(i) + 1];
           ++e) {
        const auto from = static_cast<std::size_t>(e);
        const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(matrix.col[from])]++);
        col[to] = i;
        value[to] = matrix.value[from];
      }
    }
    matrix.begin = std::move(begin);
    matrix.col = std::move(col);
  }
  matrix.value = std::move(value);
  std::swap(matrix.rows, matrix.cols);
  if (matrix.elsewhere.terms() > 0) {
    matrix.elsewhere = LowRankMatrix(matrix.elsewhere.right(), matrix.elsewhere.values(), matrix.elsewhere.left());
  }
}

}  // namespace

ScaledSlopes scale_slopes(const Claim& claim, const FeasibleSlopes& slopes) {
  const SparsePattern& pattern = claim.observed;
  ScaledSlopes out;
  out.rows = pattern.rows();
  out.cols = pattern.cols();
  out.everywhere = slopes.everywhere;
  out.value = slopes.slope;
  out.elsewhere = claim.dual.elsewhere;
  if (!out.everywhere) {
    out.begin.assign(pattern.begin(), pattern.begin() + pattern.rows() + 1);
    pattern.col().visit([&](const auto* col) { out.col.assign(col, col + pattern.entries()); });
  }
  if (claim.constraint.weighted()) {
    const std::vector<double>& p = claim.constraint.row_weight;
    const std::vector<double>& q = claim.constraint.col_weight;
    SumAbove squares;
    std::size_t at = 0;
    for (Index i = 0; i < out.rows; ++i) {
      const Offset count = out.everywhere ? out.cols : pattern.begin()[i + 1] - pattern.begin()[i];
      for (Offset k = 0; k < count; ++k, ++at) {
        const Index j = out.everywhere ? static_cast<Index>(k) : out.col[at];
        out.value[at] /= p[static_cast<std::size_t>(i)] * q[static_cast<std::size_t>(j)];
        squares.add(square_above(out.value[at]));
      }
    }
    out.error = product_above(gamma(4), above(std::sqrt(squares.value())));  // two roundings an entry
    if (out.elsewhere.terms() > 0) {
      const auto inverse = [](const std::vector<double>& weight) -> Eigen::VectorXd {
        return Eigen::Map<const Eigen::VectorXd>(weight.data(), static_cast<Eigen::Index>(weight.size()))
            .cwiseInverse();
      };
      const Eigen::VectorXd values = out.elsewhere.values();
      out.elsewhere = LowRankMatrix(inverse(p).asDiagonal() * out.elsewhere.left(), values,
                                    inverse(q).asDiagonal() * out.elsewhere.right());
      // Two roundings on each side: the entries of the product are off by four, besides those of the product itself.
      const FactoredEntries entries(out.elsewhere);
      out.error = above(out.error + above(4 * entries.error_norm()));
    }
  }
  if (out.rows < out.cols) turn(out);
  return out;
}

}  // namespace tracenorm::rigorous
