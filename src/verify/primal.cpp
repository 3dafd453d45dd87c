#include "verify/primal.hpp"

#include <vector>

#include "linalg/lapack.hpp"
#include "verify/factored_entries.hpp"
#include "verify/losses.hpp"
#include "verify/row_blocks.hpp"

namespace tracenorm::rigorous {

namespace {

/// sum_k |p_k| |q_k| over the columns: an upper bound of the trace norm of p q', by the triangle inequality.
double sum_of_terms(const Eigen::MatrixXd& p, const Eigen::MatrixXd& q) {
  SumAbove sum;
  for (Eigen::Index k = 0; k < p.cols(); ++k) sum.add(product_above(norm_above(p.col(k)), norm_above(q.col(k))));
  return sum.value();
}

/// |I - T B|_F, from above. Each element is a sum of products in twice the precision (Ogita, Rump and Oishi 2005): off
/// by u of itself and gamma_k^2 |t_i| |b_j|.
double distance_from_identity(const Eigen::MatrixXd& t, const Eigen::MatrixXd& b) {
  const Eigen::MatrixXd rows = t.transpose();
  SumAbove squares;
  for (Eigen::Index j = 0; j < b.cols(); ++j) {
    for (Eigen::Index i = 0; i < rows.cols(); ++i) {
      double sum = i == j ? -1 : 0;
      double errors = 0;
      for (Eigen::Index k = 0; k < rows.rows(); ++k) {
        const double product = rows(k, i) * b(k, j);
        const ExactSum exact = exact_sum(sum, product);
        sum = exact.sum;
        errors += exact.error + std::fma(rows(k, i), b(k, j), -product);
      }
      squares.add(square_above(sum + errors));
    }
  }
  const double twice = square_above(gamma(static_cast<double>(rows.rows()) + 3));
  const double size = above(product_above(norm_above(t), norm_above(b)) + std::sqrt(static_cast<double>(b.cols())));
  return above(product_above(above(std::sqrt(squares.value())), 1 + 4 * kUnit) + product_above(twice, size));
}

/// |P Q'|_tr <= sum_j |(P T)_j| |(Q B')_j| + |P|_F |I - T B|_F |Q|_F for any T and B. With T and B from a numerical
/// singular value decomposition of P Q' the columns are nearly orthogonal, and the bound nearly exact; its errors do
/// not matter, since the formula holds for every T and B. With P = U_1 R_1, Q = U_2 R_2 and R_1 R_2' = U diag(s) V': T
/// = R_2' V diag(s)^-1/2, B = diag(s)^-1/2 U' R_1.
double rotated_sum_of_terms(const Eigen::MatrixXd& p, const Eigen::MatrixXd& q) {
  const Eigen::MatrixXd r1 = lapack::Qr(p).r();
  const Eigen::MatrixXd r2 = lapack::Qr(q).r();
  const lapack::Svd core = lapack::svd(lapack::product(r1, r2, true));
  const Eigen::VectorXd scale = core.values.cwiseSqrt().cwiseInverse();
  if (!scale.allFinite()) return kInfinite;
  const Eigen::MatrixXd t = lapack::product(r2.transpose(), core.right) * scale.asDiagonal();
  const Eigen::MatrixXd b = scale.asDiagonal() * lapack::product(core.left.transpose(), r1);

  // Each product is off by gamma |first| |second|, entry by entry.
  const Eigen::MatrixXd pt = lapack::product(p, t);
  const Eigen::MatrixXd qb = lapack::product(q, b, true);
  const double growth = gamma(static_cast<double>(p.cols()) + 2);
  const double p_norm = norm_above(p);
  const double q_norm = norm_above(q);
  SumAbove sum;
  for (Eigen::Index j = 0; j < pt.cols(); ++j) {
    const double left =
        above(norm_above(pt.col(j)) + product_above(product_above(growth, p_norm), norm_above(t.col(j))));
    const double right =
        above(norm_above(qb.col(j)) + product_above(product_above(growth, q_norm), norm_above(b.row(j).transpose())));
    sum.add(product_above(left, right));
  }
  sum.add(product_above(product_above(p_norm, distance_from_identity(t, b)), q_norm));
  return sum.value();
}

}  // namespace

double objective_above(const Claim& claim, const Observed& observed, const LowRankMatrix& answer,
                       const Execution& execution) {
  const SparsePattern& pattern = claim.observed;
  const FactoredEntries x(answer);
  const auto* l1 = std::get_if<L1Penalty>(&claim.penalty);
  const auto* complement = std::get_if<ComplementSquaredPenalty>(&claim.penalty);
  const double lambda = l1 != nullptr ? l1->lambda : complement != nullptr ? complement->lambda : 0;
  const bool penalised = lambda > 0;
  const bool whole_rows = penalised || is_dense(pattern);
  const bool shifted = !claim.row_shift.empty();
  struct Sums {
    SumAbove loss;
    SumAbove penalty;
  };
  const std::vector<Sums> sums = with_loss(claim.loss, [&](const auto& loss) {
    return over_row_blocks<Sums>(execution, x, whole_rows, [&](Index i, const double* row, Sums& sum) {
      Offset e = pattern.begin()[i];
      for (; e < pattern.begin()[i + 1]; ++e) {
        const Index j = pattern.col()[e];
        Range at = x.range(whole_rows ? row[j] : x.at(i, j), i, j);
        if (shifted) {
          at = at + claim.row_shift[static_cast<std::size_t>(i)] + claim.col_shift[static_cast<std::size_t>(j)];
        }
        sum.loss.add(product_above(observed.weight_of(e), loss.value(at, observed.value_of(e))));
      }
      if (!penalised) return;
      e = pattern.begin()[i];
      for (Index j = 0; j < pattern.cols(); ++j) {
        const double size = absolute(x.range(row[j], i, j)).upper;
        if (l1 != nullptr) {
          sum.penalty.add(size);
        } else if (e < pattern.begin()[i + 1] && pattern.col()[e] == j) {
          ++e;
        } else {
          sum.penalty.add(square_above(size));
        }
      }
    });
  });
  SumAbove total;
  SumAbove penalty;
  for (const Sums& sum : sums) {
    total.add(sum.loss);
    penalty.add(sum.penalty);
  }
  if (penalised) total.add(product_above(lambda, penalty.value()));
  const auto add_ridge = [&](const std::vector<double>& ridge, const std::vector<double>& shift) {
    for (std::size_t k = 0; k < ridge.size(); ++k) total.add((Range(ridge[k]) * shift[k] * shift[k]).upper);
  };
  add_ridge(claim.row_ridge, claim.row_shift);
  add_ridge(claim.col_ridge, claim.col_shift);
  return total.value();
}

double trace_norm_above(const LowRankMatrix& answer, const TraceNormBall& ball) {
  if (answer.terms() == 0) return 0;
  // Z = P Q' with P = diag(row_weight) left |values|^1/2 and Q likewise. Computed factors are off by four roundings an
  // entry at most, and |P Q' - P0 Q0'|_tr <= |P - P0|_F |Q|_F + |P0|_F |Q - Q0|_F.
  const Eigen::VectorXd root = answer.values().cwiseAbs().cwiseSqrt();
  Eigen::MatrixXd p = answer.left() * root.asDiagonal();
  Eigen::MatrixXd q = answer.right() * root.cwiseProduct(answer.values().cwiseSign()).asDiagonal();
  if (ball.weighted()) {
    p.array().colwise() *= Eigen::Map<const Eigen::ArrayXd>(ball.row_weight.data(), answer.rows());
    q.array().colwise() *= Eigen::Map<const Eigen::ArrayXd>(ball.col_weight.data(), answer.cols());
  }
  if (!p.allFinite() || !q.allFinite()) return kInfinite;
  const double rounding = product_above(product_above(4 * gamma(4), norm_above(p)), norm_above(q));
  double bound = sum_of_terms(p, q);
  if (!(above(bound + rounding) <= ball.radius)) {
    const double rotated = rotated_sum_of_terms(p, q);
    if (rotated < bound) bound = rotated;
  }
  return above(bound + rounding);
}

}  // namespace tracenorm::rigorous
