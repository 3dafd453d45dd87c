#include "verify/dual.hpp"

#include <fmt/format.h>

#include "verify/losses.hpp"
#include "verify/row_blocks.hpp"

namespace tracenorm::rigorous {

namespace {

/// Slopes are kept in Real: this share of the larger end of their domain is rounding.
constexpr double kRoundingOfSlopes = 4 * static_cast<double>(std::numeric_limits<Real>::epsilon());

/// A slope of loss + lambda |x| is the sum of a slope of the loss and a number of size lambda at most. The conjugate is
/// the least one of the loss over all such sums, which is where the loss's part is nearest to its slope at x = 0.
struct Split {
  double slope;      ///< the whole, feasible
  double loss_part;  ///< in the domain of the loss
};
Split split(double wanted, const SlopeDomain& domain, double at_zero, double lambda) {
  const double part = domain.nearest(std::min(std::max(at_zero, wanted - lambda), wanted + lambda));
  const double least = tight_sum_above(part, -lambda);
  const double most = tight_sum_below(part, lambda);
  return {least <= most ? std::min(std::max(wanted, least), most) : part, part};
}

struct Sums {
  SumAbove conjugates;
  Offset moved = 0;
  double furthest = 0;
  std::string problem;

  /// Keeps account of a move; a slope that is not finite is a problem.
  void note(double wanted, double taken, double size, Index i, Index j) {
    const double move = std::abs(wanted - taken);
    if (move == 0) return;
    ++moved;
    furthest = std::max(furthest, move);
    if (!(move <= kRoundingOfSlopes * size) && problem.empty()) {
      problem = fmt::format(
          "row {}, column {} (from 0): the slope {:.9g} is not in the domain of the conjugate; {:.9g} "
          "would be",
          i, j, wanted, taken);
    }
  }
};

double size_of(const SlopeDomain& domain, double lambda) {
  return std::max(std::abs(domain.lower), std::abs(domain.upper)) + lambda;
}

/// sum over rows of (sum of the row's slopes)^2 / (4 ridge), from above; `line(k)` is the row or column of entry k.
template <class Line>
double ridge_part(const std::vector<double>& slope, const std::vector<double>& ridge, const Line& line) {
  std::vector<SumAbove> most(ridge.size());
  std::vector<SumAbove> least(ridge.size());
  for (std::size_t k = 0; k < slope.size(); ++k) {
    most[line(k)].add(slope[k]);
    least[line(k)].add(-slope[k]);
  }
  SumAbove sum;
  for (std::size_t i = 0; i < ridge.size(); ++i) {
    const double size = std::max({most[i].value(), least[i].value(), 0.0});
    if (size > 0) sum.add((Range(size) * size / (4 * ridge[i])).upper);
  }
  return sum.value();
}

std::vector<Index> row_of_entries(const SparsePattern& pattern) {
  std::vector<Index> row;
  row.reserve(static_cast<std::size_t>(pattern.entries()));
  for (Index i = 0; i < pattern.rows(); ++i) {
    row.insert(row.end(), static_cast<std::size_t>(pattern.begin()[i + 1] - pattern.begin()[i]), i);
  }
  return row;
}

}  // namespace

FeasibleSlopes feasible_slopes(const Claim& claim, const Observed& observed, const Execution& execution) {
  const SparsePattern& pattern = claim.observed;
  const std::vector<Real>& given = claim.dual.slope;
  const auto* l1 = std::get_if<L1Penalty>(&claim.penalty);
  const auto* complement = std::get_if<ComplementSquaredPenalty>(&claim.penalty);
  const double lambda = l1 != nullptr ? l1->lambda : 0;
  FeasibleSlopes out;
  const double square_lambda = complement != nullptr ? complement->lambda : 0;
  const auto cols = static_cast<std::size_t>(pattern.cols());
  out.everywhere = given.size() == static_cast<std::size_t>(pattern.rows()) * cols;
  const auto refuse = [&](std::string why) {
    out.problem = std::move(why);
    return out;
  };
  if (!out.everywhere && (given.size() != static_cast<std::size_t>(pattern.entries()) || l1 != nullptr)) {
    return refuse(fmt::format("there are {} slopes; one is needed for {}", given.size(),
                              l1 != nullptr ? "every entry of the matrix" : "every observed entry"));
  }
  const LowRankMatrix& elsewhere = claim.dual.elsewhere;
  const bool off_pattern = elsewhere.terms() > 0;
  if (off_pattern && (out.everywhere || !(square_lambda > 0))) {
    return refuse("there are slopes at unobserved entries, and no penalty acts there");
  }
  if (off_pattern && (elsewhere.rows() != pattern.rows() || elsewhere.cols() != pattern.cols())) {
    return refuse("the slopes at unobserved entries are those of a matrix of another size");
  }
  out.slope.resize(given.size());
  const FactoredEntries off(off_pattern ? elsewhere : LowRankMatrix(pattern.rows(), pattern.cols()));

  const std::vector<Sums> sums = with_loss(claim.loss, [&](const auto& loss) {
    return over_row_blocks<Sums>(execution, off, off_pattern, [&](Index i, const double* row, Sums& sum) {
      const auto take = [&](std::size_t at, Index j, const SlopeDomain& domain, double at_zero) {
        const double slope = static_cast<double>(given[at]);
        const Split found = split(slope, domain, at_zero, lambda);
        out.slope[at] = found.slope;
        sum.note(slope, found.slope, size_of(domain, lambda), i, j);
        return found.loss_part;
      };
      const Offset end = pattern.begin()[i + 1];
      Offset e = pattern.begin()[i];
      const auto take_observed = [&](std::size_t at, Index j) {
        const double y = observed.value_of(e);
        const double weight = observed.weight_of(e);
        const double part = take(at, j, loss.slopes(y, weight), loss.slope_at_zero(y, weight));
        sum.conjugates.add(loss.conjugate(part, y, weight));
      };
      if (!out.everywhere && !off_pattern) {
        for (; e < end; ++e) take_observed(static_cast<std::size_t>(e), pattern.col()[e]);
        return;
      }
      for (Index j = 0; j < pattern.cols(); ++j) {
        const std::size_t place = static_cast<std::size_t>(i) * cols + static_cast<std::size_t>(j);
        if (e < end && pattern.col()[e] == j) {
          take_observed(out.everywhere ? place : static_cast<std::size_t>(e), j);
          ++e;
        } else if (square_lambda > 0) {  // lambda x^2: any slope s, and s^2 / (4 lambda)
          if (out.everywhere) out.slope[place] = static_cast<double>(given[place]);
          const double size = out.everywhere ? std::abs(out.slope[place]) : absolute(off.range(row[j], i, j)).upper;
          sum.conjugates.add((Range(size) * size / (4 * square_lambda)).upper);
        } else {
          take(place, j, {0, 0}, 0);  // lambda |x|, or nothing: any slope up to lambda, and a conjugate of zero
        }
      }
    });
  });
  SumAbove total;
  for (const Sums& sum : sums) {
    total.add(sum.conjugates);
    out.moved += sum.moved;
    out.furthest = std::max(out.furthest, sum.furthest);
    if (out.problem.empty()) out.problem = sum.problem;
  }
  if (!claim.row_ridge.empty()) {
    const std::vector<Index> row = row_of_entries(pattern);
    total.add(ridge_part(out.slope, claim.row_ridge, [&](std::size_t k) { return static_cast<std::size_t>(row[k]); }));
    total.add(ridge_part(out.slope, claim.col_ridge, [&](std::size_t k) {
      return static_cast<std::size_t>(pattern.col()[static_cast<Offset>(k)]);
    }));
  }
  out.conjugates = total.value();
  return out;
}

}  // namespace tracenorm::rigorous
