#include "verify/factored_entries.hpp"

#include "linalg/lapack.hpp"

namespace tracenorm::rigorous {

namespace {
/// Norms and products of them are rounded themselves, by far less than this.
constexpr double kSlack = 1 + 1e-9;
}  // namespace

FactoredEntries::FactoredEntries(const LowRankMatrix& matrix)
    : left_(RowMajor::Zero(matrix.rows(), matrix.terms())), right_(RowMajor::Zero(matrix.cols(), matrix.terms())) {
  if (matrix.terms() > 0) {
    const Eigen::VectorXd root = matrix.values().cwiseAbs().cwiseSqrt();
    left_ = matrix.left() * root.cwiseProduct(matrix.values().cwiseSign()).asDiagonal();
    right_ = matrix.right() * root.asDiagonal();
  }
  row_error_ = kSlack * gamma(terms() + 6) * left_.rowwise().norm();
  col_size_ = kSlack * right_.rowwise().norm();
}

void FactoredEntries::rows(Index first, Index last, double* out) const {
  const auto cols = static_cast<Index>(right_.rows());
  if (terms() == 0) {
    std::fill_n(out, static_cast<std::size_t>(last - first) * static_cast<std::size_t>(cols), 0.0);
    return;
  }
  // A row of `out` is a column of the transposed matrix.
  lapack::gemm(lapack::Shape::transposed, lapack::Shape::plain, cols, last - first, terms(), 1.0, right_.data(),
               terms(), left_.row(first).data(), terms(), 0.0, out, cols);
}

double FactoredEntries::error_norm() const { return kSlack * row_error_.norm() * col_size_.norm(); }

}  // namespace tracenorm::rigorous
