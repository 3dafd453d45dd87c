// GLRL, our reading. Q. Yao and J. Kwok, "Greedy learning of generalized low-rank models", IJCAI 2016, could not be
// read in full; what follows is a reconstruction from its abstract and from how others describe it. Results made with
// it must say so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/baselines/block_svd.hpp"
#include "methods/baselines/two_coefficients.hpp"
#include "methods/methods.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm::methods {

namespace {

using namespace baselines;

void check_for_glrl(const Problem& problem) {
  if (std::holds_alternative<L1Penalty>(problem.penalty) && penalty_lambda(problem.penalty) > 0) {
    throw Error(ErrorCode::usage, "glrl: an l1 penalty; it knows the penalties none and complement-squared");
  }
}

/// |G|_F^2 of the subgradient G at X: the loss's part on the pattern, 2 lambda X off it.
double subgradient_square(const Problem& problem, const Observed& data, const std::vector<double>& x,
                          double norm_square) {
  const double lambda = penalty_lambda(problem.penalty);
  const double on_pattern = std::visit(
      [&](const auto& loss) {
        return data.sum([&](Offset e) {
          const double entry = x[static_cast<std::size_t>(e)];
          const double slope = data.weight(e) * double(loss.subgradient(entry, data.value(e)));
          return slope * slope - 4 * lambda * lambda * entry * entry;
        });
      },
      problem.loss);
  return std::max(0.0, on_pattern + 4 * lambda * lambda * norm_square);
}

/// out = M block, or M' block, for a block on the host.
void multiply(Evaluator& f, Side side, const Eigen::MatrixXd& block, Eigen::MatrixXd& out) {
  const Side other = side == Side::left ? Side::right : Side::left;
  const Panel in = f.panels().make(side, Use::exact, 1);
  const Panel product = f.panels().make(other, Use::exact, 1);
  out.resize(other == Side::left ? f.rows() : f.cols(), block.cols());
  for (Eigen::Index c = 0; c < block.cols(); ++c) {
    f.panels().upload(block.col(c), in);
    f.apply_slopes(in, product);
    out.col(c) = f.panels().download(product);
  }
}

/// The leading triplets of the subgradient held by the evaluator, as many as the rule wants: the smallest k with
/// |G|_F^2 - sum of the first k squared values <= nu^2. `t` keeps the whole block for the next warm start.
Index leading_part(Evaluator& f, double square, double nu, Triplets& t) {
  constexpr double accuracy = 1e-2;  // of each triplet, relative to the largest value: the spectrum is flat
  constexpr int rounds = 8;          // fewer cost accuracy on MovieLens, more gain nothing
  subspace_iteration([&](const Eigen::MatrixXd& block, Eigen::MatrixXd& out) { multiply(f, Side::right, block, out); },
                     [&](const Eigen::MatrixXd& block, Eigen::MatrixXd& out) { multiply(f, Side::left, block, out); },
                     [&](const Eigen::VectorXd& values, const Eigen::VectorXd& errors) {
                       return errors.maxCoeff() <= accuracy * values[0];
                     },
                     rounds, t);
  Index k = 0;
  double rest = square;
  while (k < t.values.size() && t.values[k] > 0 && rest > nu * nu) rest -= t.values[k] * t.values[k], ++k;
  return k;
}

/// All matrices a X - b G_k, cut to a rank: orthonormal bases of the columns and rows of both, once, and then a small
/// singular value decomposition for each (a, b).
class Combination {
 public:
  /// Takes the left vectors of g: only the right ones start the next subspace iteration.
  Combination(const LowRankMatrix& x, Triplets& g, Index k) : x_terms_(x.terms()), values_(x.terms() + k) {
    values_ << x.values(), g.values.head(k);
    left_.resize(x.rows(), values_.size());
    left_ << x.left(), g.left.leftCols(k);
    g.left.resize(0, 0);
    left_r_ = orthonormalize(left_);
    right_.resize(x.cols(), values_.size());
    right_ << x.right(), g.right.leftCols(k);
    right_r_ = orthonormalize(right_);
  }

  [[nodiscard]] LowRankMatrix at(Coefficients c, Index rank) const {
    Eigen::VectorXd values = values_;
    values.head(x_terms_) *= c.a;
    values.tail(values.size() - x_terms_) *= -c.b;
    const Eigen::MatrixXd core = left_r_ * values.asDiagonal() * right_r_.transpose();
    const lapack::Svd svd = lapack::svd(core);
    const auto kept = std::min<Eigen::Index>(rank, svd.values.size());
    return {left_ * svd.left.leftCols(kept), svd.values.head(kept), right_ * svd.right.leftCols(kept)};
  }

 private:
  Index x_terms_;
  Eigen::VectorXd values_;
  Eigen::MatrixXd left_;
  Eigen::MatrixXd left_r_;
  Eigen::MatrixXd right_;
  Eigen::MatrixXd right_r_;
};

GramEntries gram_entries(const LowRankMatrix& x, const Triplets& g, Index k) {
  const Eigen::MatrixXd left = x.left().transpose() * g.left.leftCols(k);
  const Eigen::MatrixXd right = x.right().transpose() * g.right.leftCols(k);
  const double cross = (x.values().asDiagonal() * left * g.values.head(k).asDiagonal()).cwiseProduct(right).sum();
  return {x.values().squaredNorm(), cross, g.values.head(k).squaredNorm()};
}

}  // namespace

/// X <- the best rank-r part of a X - b G_k, G_k the leading part of a subgradient. The search for a and b ignores the
/// cut to rank r, which may undo its gain: then the step is halved, and given up when the objective still does not
/// fall.
void run(const Glrl& options, const Problem& problem, Evaluator& f, Session& session) {
  check_for_glrl(problem);
  const Index rank = checked_rank(Glrl::name, options.rank, f.rows(), f.cols());
  const Observed data(problem.observations, f.execution());
  TwoCoefficients coefficients(data, problem);
  std::vector<double> x_entries(static_cast<std::size_t>(data.entries()), 0.0);
  std::vector<double> g_entries;
  Random random(session.options().seed);
  Triplets g;
  g.right =
      random_block(f.cols(), static_cast<Index>(std::min<double>(options.block, std::min(f.rows(), f.cols()))), random);
  bool converged = false;
  const auto state = [&](Exchange kept) {
    kept.matrix("block", g.right);
    kept.number("converged", converged);
  };
  for (int k = session.begin(state); !session.pauses(k, state); ++k) {
    const double objective = f.linearize(0, false).objective;  // G <- a subgradient at X
    const LowRankMatrix x = f.downloaded();
    data.sample(x.left() * x.values().asDiagonal(), x.right(), x_entries);
    const double square = subgradient_square(problem, data, x_entries, x.values().squaredNorm());
    const double nu = 0.9 * std::sqrt(square / (k + 1.0));
    const Index terms = leading_part(f, square, nu, g);
    data.sample(g.left.leftCols(terms) * g.values.head(terms).asDiagonal(), g.right.leftCols(terms), g_entries);
    const Coefficients best = coefficients.fit(x_entries, g_entries, gram_entries(x, g, terms));
    if (!session.proceed({.k = k, .objective = objective, .step = best.b, .sigma = g.values[0]}, kNoBound, converged))
      return;

    const Combination combination(x, g, terms);
    constexpr int most_halvings = 10;
    double reached = objective;
    double share = 1;
    for (int i = 0; i <= most_halvings; ++i, share /= 2) {
      f.restart(combination.at({1 + share * (best.a - 1), share * best.b}, rank));
      reached = f.objective(f.iterate());
      if (reached < objective) break;
    }
    if (!(reached < objective)) f.restart(x);
    converged = !(objective - reached > options.tolerance * std::abs(objective));
  }
}

}  // namespace tracenorm::methods
