#include "verify/spectral_norm.hpp"

#include <fmt/format.h>

#include <random>

#include "base/random.hpp"
#include "linalg/lapack.hpp"
#include "verify/row_blocks.hpp"
#include "verify/scaled_slopes.hpp"

namespace tracenorm::rigorous {

namespace {

/// sqrt(largest row sum * largest column sum) and the Frobenius norm: both are at least sigma_1.
struct CheapNorms {
  double sums = 0;
  double frobenius = 0;
  double rounding = 0;  ///< how far computed entries of the low-rank part may be off, in the Frobenius norm
  [[nodiscard]] double least() const { return sums < frobenius ? sums : frobenius; }
};

CheapNorms cheap_norms(const ScaledSlopes& m) {
  std::vector<SumAbove> column(static_cast<std::size_t>(m.cols));
  SumAbove squares;
  double largest_row = 0;
  std::size_t at = 0;
  for (Index i = 0; i < m.rows; ++i) {
    const Offset count =
        m.everywhere ? m.cols : m.begin[static_cast<std::size_t>(i) + 1] - m.begin[static_cast<std::size_t>(i)];
    SumAbove row;
    for (Offset k = 0; k < count; ++k, ++at) {
      const double size = std::abs(m.value[at]);
      row.add(size);
      column[static_cast<std::size_t>(m.everywhere ? k : m.col[at])].add(size);
      squares.add(square_above(size));
    }
    largest_row = std::max(largest_row, row.value());
  }
  double largest_column = 0;
  for (const SumAbove& sum : column) largest_column = std::max(largest_column, sum.value());
  CheapNorms norms;
  norms.frobenius = above(std::sqrt(squares.value()));
  norms.sums = above(std::sqrt(product_above(largest_row, largest_column)));
  if (m.elsewhere.terms() > 0) {  // |M|_F <= |stored|_F + |U S|_F |V|_F
    const Eigen::MatrixXd left = m.elsewhere.left() * m.elsewhere.values().asDiagonal();
    const double low_rank =
        product_above(product_above(norm_above(left), norm_above(m.elsewhere.right())), 1 + gamma(4));
    norms.frobenius = above(norms.frobenius + low_rank);
    norms.sums = kInfinite;
    norms.rounding = FactoredEntries(m.elsewhere).error_norm();
    norms.frobenius = above(norms.frobenius + norms.rounding);
  }
  norms.frobenius = above(norms.frobenius + m.error);
  norms.sums = above(norms.sums + m.error);
  return norms;
}

/// Adds the outer products of sparse rows to the lower triangle. A shard owns a range of its columns.
void add_sparse_rows(const ScaledSlopes& m, const Execution& execution, Eigen::MatrixXd& gram) {
  constexpr int kShards = 16;
  const Offset width = (Offset{m.cols} + kShards - 1) / kShards;  // a side may have nearly 2^31
  execution.for_each_shard(kShards, [&](int shard) {
    const auto from = static_cast<Index>(std::min<Offset>(m.cols, shard * width));
    const auto to = static_cast<Index>(std::min<Offset>(m.cols, from + width));
    for (Index i = 0; i < m.rows; ++i) {
      const Index* first = m.col.data() + m.begin[static_cast<std::size_t>(i)];
      const Index* last = m.col.data() + m.begin[static_cast<std::size_t>(i) + 1];
      const double* value = m.value.data() + m.begin[static_cast<std::size_t>(i)];
      for (const Index* a = std::lower_bound(first, last, from); a != last && *a < to; ++a) {
        double* target = gram.col(*a).data();
        const double factor = value[a - first];
        for (const Index* b = a; b != last; ++b) target[*b] += factor * value[b - first];
      }
    }
  });
}

/// The same by blocks of whole rows.
void add_whole_rows(const ScaledSlopes& m, Eigen::MatrixXd& gram) {
  constexpr Index kBlock = 256;
  const auto cols = static_cast<std::size_t>(m.cols);
  const FactoredEntries off(m.elsewhere.terms() > 0 ? m.elsewhere : LowRankMatrix(m.rows, m.cols));
  std::vector<double> block(m.everywhere ? 0 : kBlock * cols);
  for (Index first = 0; first < m.rows; first += kBlock) {
    const Index count = std::min(kBlock, m.rows - first);
    const double* rows = m.value.data() + static_cast<std::size_t>(first) * cols;
    if (!m.everywhere) {
      off.rows(first, first + count, block.data());
      for (Index k = 0; k < count; ++k) {
        const auto i = static_cast<std::size_t>(first) + static_cast<std::size_t>(k);
        for (auto e = static_cast<std::size_t>(m.begin[i]); e < static_cast<std::size_t>(m.begin[i + 1]); ++e) {
          block[static_cast<std::size_t>(k) * cols + static_cast<std::size_t>(m.col[e])] = m.value[e];
        }
      }
      rows = block.data();
    }
    lapack::add_square(lapack::Shape::plain, m.cols, count, rows, m.cols, 1.0, gram.data());
  }
}

/// An update of a sparse product costs as much as this many of a blocked one.
constexpr double kSparseCost = 40;

Eigen::MatrixXd gram_of(const ScaledSlopes& m, const Execution& execution) {
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(m.cols, m.cols);
  double updates = 0;
  for (std::size_t i = 0; i + 1 < m.begin.size(); ++i) {
    const auto count = static_cast<double>(m.begin[i + 1] - m.begin[i]);
    updates += count * count;
  }
  const double whole = static_cast<double>(m.rows) * m.cols * m.cols;
  const bool sparse = !m.everywhere && m.elsewhere.terms() == 0 && kSparseCost * updates < whole;
  if (sparse) {
    add_sparse_rows(m, execution, gram);
  } else {
    add_whole_rows(m, gram);
  }
  return gram;
}

/// No eigenvalue of a symmetric matrix is above its largest row sum of absolute values. Of the lower triangle.
double largest_row_sum(const Eigen::MatrixXd& lower) {
  std::vector<SumAbove> sum(static_cast<std::size_t>(lower.cols()));
  for (Eigen::Index j = 0; j < lower.cols(); ++j) {
    sum[static_cast<std::size_t>(j)].add(std::abs(lower(j, j)));
    for (Eigen::Index i = j + 1; i < lower.rows(); ++i) {
      sum[static_cast<std::size_t>(i)].add(std::abs(lower(i, j)));
      sum[static_cast<std::size_t>(j)].add(std::abs(lower(i, j)));
    }
  }
  double largest = 0;
  for (const SumAbove& row : sum) largest = std::max(largest, row.value());
  return largest;
}

/// Of A = M'M as computed, which is off by `gram_error` at most; M as computed by `entry_error`.
struct GramErrors {
  double gram;
  double entries;
  /// sigma_1, when no eigenvalue of the computed A is above `eigenvalue`.
  [[nodiscard]] double norm(double eigenvalue) const {
    return above(above(std::sqrt(above(eigenvalue + gram))) + entries);
  }
};

/// If t I - A, as computed, has a Cholesky factorisation R'R as computed, then R'R differs from it by at most
/// gamma_{n+2} |R'| |R| entry by entry, which has a norm of at most gamma_{n+2} / (1 - gamma_{n+2}) times the trace of
/// t I - A. R'R has no negative eigenvalue, so none of A is above t plus that (and u t for the differences on the
/// diagonal). See docs/certificates.md.
NormBound by_factorisation(const ScaledSlopes& m, const CheapNorms& norms, double wanted, const Execution& execution) {
  Eigen::MatrixXd shifted = gram_of(m, execution);
  // Each element of the Gram matrix is a sum of at most `rows` products; |M|'|M| has a norm of at most |M|_F^2, which
  // is its trace: sums of squares, that are off by gamma of themselves.
  const double per_element = gamma(m.rows + 2.0);
  const double squares =
      above(product_above(shifted.diagonal().sum(), 1 + gamma(m.cols + 1.0)) / below(1 - per_element));
  const GramErrors errors{product_above(per_element, squares), above(m.error + norms.rounding)};
  const double row_sum = errors.norm(largest_row_sum(shifted));
  if (row_sum <= wanted) return {row_sum, 0, fmt::format("row sums of a Gram matrix of order {} show it", m.cols)};
  NormBound failed{std::min(norms.least(), row_sum), 0, ""};

  // t + growth (n t - trace A) + 2 u t + error = wanted^2, solved for t.
  const double n = m.cols;
  const double growth = above(gamma(n + 3) / below(1 - gamma(n + 3)));
  const double trace = below(product_below(shifted.diagonal().sum(), 1 - gamma(n + 1)));
  constexpr double kRoom = 1 - 1e-14;  // for the roundings of this and of what follows
  const double root = (wanted - errors.entries) * kRoom;
  const double t = (root * root - errors.gram + growth * trace) / (1 + growth * n + 2 * kUnit) * kRoom;
  if (!(root > 0 && t > 0)) return failed;
  for (Eigen::Index j = 0; j < shifted.cols(); ++j) {
    shifted.col(j).tail(shifted.rows() - j) *= -1;
    shifted(j, j) += t;
  }
  if (!lapack::factor_cholesky(shifted) || !shifted.diagonal().allFinite()) return failed;
  const double shifted_trace = above(product_above(n, t) - trace);
  const double eigenvalue = above(product_above(t, 1 + 2 * kUnit) + product_above(growth, shifted_trace));
  return {errors.norm(eigenvalue), 0, fmt::format("a Cholesky factorisation of order {} shows it", m.cols)};
}

/// The largest eigenvalue of -H for the symmetric part H of M, which is square: t I + H is factorised, with margins as
/// above. H is off by the errors of M and one rounding an entry.
NormBound by_one_side(const ScaledSlopes& m, const CheapNorms& norms, double wanted) {
  NormBound failed{norms.least(), 0, ""};
  const double error = above(above(m.error + norms.rounding) + product_above(gamma(2), norms.frobenius));
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(m.cols, m.cols);
  std::vector<double> row(static_cast<std::size_t>(m.cols));
  const FactoredEntries off(m.elsewhere.terms() > 0 ? m.elsewhere : LowRankMatrix(m.rows, m.cols));
  for (Index i = 0; i < m.rows; ++i) {
    if (!m.everywhere && m.elsewhere.terms() > 0) {
      off.rows(i, i + 1, row.data());
      h.row(i) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), m.cols);
    }
    const auto at = static_cast<std::size_t>(i);
    const std::size_t first = m.everywhere ? at * row.size() : static_cast<std::size_t>(m.begin[at]);
    const std::size_t last = m.everywhere ? first + row.size() : static_cast<std::size_t>(m.begin[at + 1]);
    for (std::size_t e = first; e < last; ++e) {
      h(i, m.everywhere ? static_cast<Eigen::Index>(e - first) : m.col[e]) = m.value[e];
    }
  }
  h = (0.5 * (h + h.transpose())).eval();
  const double n = m.cols;
  const double growth = above(gamma(n + 3) / below(1 - gamma(n + 3)));
  const double trace = above(product_above(h.diagonal().cwiseAbs().sum(), 1 + gamma(n + 1)));
  constexpr double kRoom = 1 - 1e-14;
  const double t = (wanted - error - (growth + 2 * kUnit) * trace) / (1 + (growth + 2 * kUnit) * n) * kRoom;
  if (!(t > 0)) return failed;
  h.diagonal().array() += t;
  if (!lapack::factor_cholesky(h) || !h.diagonal().allFinite()) return failed;
  // Entries of the diagonal were rounded when t was added, which they may be larger than.
  const double shifted_trace = above(product_above(n, t) + trace);
  const double eigenvalue =
      above(above(t + product_above(2 * kUnit, shifted_trace)) + product_above(growth, shifted_trace));
  return {above(eigenvalue + error), 0, fmt::format("a Cholesky factorisation of order {} shows it", m.cols)};
}

/// y = M x or M'x, for a run from a random start.
class Products {
 public:
  Products(ScaledSlopes m, const Execution& execution) : m_(std::move(m)), execution_(execution) {
    if (m_.elsewhere.terms() == 0) return;
    const FactoredEntries off(m_.elsewhere);
    for (Index i = 0; i < m_.rows; ++i) {
      for (auto e = static_cast<std::size_t>(m_.begin[static_cast<std::size_t>(i)]);
           e < static_cast<std::size_t>(m_.begin[static_cast<std::size_t>(i) + 1]); ++e) {
        m_.value[e] -= off.at(i, m_.col[e]);
      }
    }
  }

  /// M'M v.
  [[nodiscard]] Eigen::VectorXd normal(const Eigen::VectorXd& v) const {
    const Index shards = 16;
    std::vector<Eigen::VectorXd> part(shards);
    Eigen::VectorXd low_rank_v;
    Eigen::MatrixXd low_rank_u;
    const bool off = m_.elsewhere.terms() > 0;
    if (off) low_rank_v = m_.elsewhere.values().cwiseProduct(m_.elsewhere.right().transpose() * v);
    std::vector<Eigen::VectorXd> low_rank_part(shards);
    const Offset height = (Offset{m_.rows} + shards - 1) / shards;
    execution_.for_each_shard(shards, [&](int shard) {
      const auto s = static_cast<std::size_t>(shard);
      part[s] = Eigen::VectorXd::Zero(m_.cols);
      if (off) low_rank_part[s] = Eigen::VectorXd::Zero(m_.elsewhere.terms());
      const Offset end = std::min<Offset>(m_.rows, (shard + 1) * height);
      for (Offset i = shard * height; i < end; ++i) {
        add_row(static_cast<Index>(i), v, off ? &low_rank_v : nullptr, part[s], low_rank_part[s]);
      }
    });
    Eigen::VectorXd sum = part[0];
    for (std::size_t s = 1; s < part.size(); ++s) sum += part[s];
    if (off) {
      Eigen::VectorXd terms = low_rank_part[0];
      for (std::size_t s = 1; s < part.size(); ++s) terms += low_rank_part[s];
      sum += m_.elsewhere.right() * m_.elsewhere.values().cwiseProduct(terms);
    }
    return sum;
  }
  [[nodiscard]] Index size() const { return m_.cols; }

 private:
  void add_row(Index i, const Eigen::VectorXd& v, const Eigen::VectorXd* low_rank, Eigen::VectorXd& out,
               Eigen::VectorXd& low_rank_out) const {
    const auto row = static_cast<std::size_t>(i);
    const std::size_t first =
        m_.everywhere ? row * static_cast<std::size_t>(m_.cols) : static_cast<std::size_t>(m_.begin[row]);
    const std::size_t last =
        m_.everywhere ? first + static_cast<std::size_t>(m_.cols) : static_cast<std::size_t>(m_.begin[row + 1]);
    const auto place = [&](std::size_t e) { return m_.everywhere ? static_cast<Eigen::Index>(e - first) : m_.col[e]; };
    double u = low_rank != nullptr ? m_.elsewhere.left().row(i).dot(*low_rank) : 0.0;
    for (std::size_t e = first; e < last; ++e) u += m_.value[e] * v[place(e)];
    for (std::size_t e = first; e < last; ++e) out[place(e)] += m_.value[e] * u;
    if (low_rank != nullptr) low_rank_out += u * m_.elsewhere.left().row(i).transpose();
  }

  ScaledSlopes m_;
  const Execution& execution_;
};

/// Kuczynski and Wozniakowski (1992), Theorem 4.2: after k Lanczos steps on a positive semidefinite matrix of order n
/// from a start that is uniform on the sphere, P(largest Ritz value < (1 - e) lambda_1) <= 1.648 sqrt(n) exp(-sqrt(e)
/// (2k - 1)). Here k is fixed beforehand. When the Krylov space ends early, further steps would change nothing.
NormBound by_random_start(ScaledSlopes slopes, const CheapNorms& norms, const VerifyOptions& options,
                          const Execution& execution) {
  const double entry_error = above(slopes.error + norms.rounding);
  const Products products(std::move(slopes), execution);
  const Index n = products.size();
  const auto steps = static_cast<Index>(std::min<double>(n, std::clamp(2e9 / (8.0 * n), 60.0, 400.0)));
  Random random(options.seed ? *options.seed : std::random_device{}());
  Eigen::MatrixXd basis(n, steps);
  Eigen::MatrixXd projected = Eigen::MatrixXd::Zero(steps, steps);
  Eigen::VectorXd next(n);
  for (double& element : next) element = random.normal();
  next.normalize();
  Index made = 0;
  while (made < steps) {
    basis.col(made) = next;
    next = products.normal(next);
    const double size = next.norm();
    projected(made, made) = basis.col(made).dot(next);
    for (int twice = 0; twice < 2; ++twice) {
      const auto known = basis.leftCols(made + 1);
      next -= known * (known.transpose() * next).eval();
    }
    const double rest = next.norm();
    ++made;
    if (!(rest > 1e-12 * size)) break;
    if (made < steps) projected(made, made - 1) = projected(made - 1, made) = rest;
    next /= rest;
  }
  Eigen::MatrixXd small = projected.topLeftCorner(made, made);
  const double ritz = lapack::eigenvectors(small)[made - 1];
  const double exponent = std::log(1.648 * std::sqrt(n) / options.failure_probability) / (2.0 * steps - 1);
  const double shortfall = exponent * exponent;
  if (!(shortfall < 1)) return {norms.least(), 0, ""};
  constexpr double kRounding = 1 + 1e-10;  // of the steps, which are orthogonal to some 1e-14
  return {above(std::sqrt(ritz / (1 - shortfall)) * kRounding + entry_error), options.failure_probability,
          fmt::format("{} Lanczos steps from a random start say so, wrongly with probability {:g} at most", steps,
                      options.failure_probability)};
}

}  // namespace

NormBound bound_norm(const Claim& claim, const FeasibleSlopes& slopes, double wanted, const VerifyOptions& options,
                     const Execution& execution) {
  ScaledSlopes scaled = scale_slopes(claim, slopes);
  const CheapNorms norms = cheap_norms(scaled);
  if (norms.least() <= wanted || norms.least() == 0) {
    return {norms.least(), 0,
            norms.sums < norms.frobenius ? "sums of rows and columns show it" : "the Frobenius norm shows it"};
  }
  if (!(wanted > 0)) return {norms.least(), 0, ""};
  if (claim.constraint.symmetry == Symmetry::semidefinite) {
    return scaled.cols <= options.largest_gram ? by_one_side(scaled, norms, wanted) : NormBound{norms.least(), 0, ""};
  }
  if (scaled.cols <= options.largest_gram) return by_factorisation(scaled, norms, wanted, execution);
  return by_random_start(std::move(scaled), norms, options, execution);
}

}  // namespace tracenorm::rigorous
