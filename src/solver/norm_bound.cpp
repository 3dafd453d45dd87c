#include "solver/norm_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/spectral_bound.hpp"
#include "solver/lanczos.hpp"

namespace tracenorm {

namespace {

/// One probabilistic bound is wrong with at most this probability; the certificate adds them up.
constexpr double kFailureProbability = 1e-9;

constexpr int kEstimateBlocks = 8;

}  // namespace

NormBound::NormBound(EntryStore& store, Panels& panels, SlopeMatrix& slopes, LeadingPair& pair, Iterate& iterate,
                     const WeightedNorm& norm, Counters& counters, Random& random)
    : store_(store),
      panels_(panels),
      slopes_(slopes),
      pair_(pair),
      iterate_(iterate),
      norm_(norm),
      counters_(counters),
      random_(random) {}

double NormBound::estimate(Slopes which) {
  if (which == Slopes::current) return pair_.sigma();
  if (!average_krylov_) {
    average_krylov_ = std::make_unique<BlockKrylov>(panels_, Use::search, 1, kEstimateBlocks);
    average_start_ = panels_.make(Side::right, Use::search, 1);
    average_product_ = panels_.make(Side::left, Use::search, 1);
    panels_.add(0, 1, pair_.right(), average_start_);
  }
  draw_start(panels_, average_start_, true, random_);
  const double before = counters_.passes;
  const double size = slopes_.size(which);
  const KrylovResult found = average_krylov_->leading(
      [&](int, const Panel& q, const Panel& out) { slopes_.normal(which, size, q, out, average_product_); },
      average_start_, 1e-3, 16);  // what it decides is only whether a proof is worth its passes
  counters_.certificate_passes += counters_.passes - before;
  return size * std::sqrt(std::max(0.0, found.eigenvalue));
}

double NormBound::rounding_margin(double square) const {
  // Stored slopes are rounded to Real, and conjugates clamp them into the loss's slopes: the matrix whose conjugates
  // were summed differs from the stored one by at most one unit in the last place per entry. With a low-rank part, the
  // entries of X and the factors may also differ by the rounding of the moves.
  const double unit = std::numeric_limits<Real>::epsilon();
  const double roundings = norm_.plain() ? 1 : 2;  // slopes of Z may be rounded once more
  double margin = roundings * unit * std::sqrt(square);
  margin += 2 * slopes_.off_pattern() * 64 * unit * std::sqrt(std::max(square_norm_, observed_square_));
  return margin;
}

void NormBound::add_low_rank(Slopes which, Side side, Eigen::MatrixXd& gram) {
  // G = M + L with L = U C V': G'G = M'M + (M'U) C V' + V C (U'M) + V C (U'U) C V', or the same transposed.
  const FactoredMatrix& x = iterate_.factors();
  if (x.terms() == 0) return;
  const Panel near_side = side == Side::right ? x.right() : x.left();
  const Panel far = side == Side::right ? x.left() : x.right();
  const Panel cross = panels_.make(side, Use::exact, x.terms());
  for (Index t = 0; t < x.terms(); ++t) slopes_.apply_entries(which, far.column(t), cross.column(t));
  const Eigen::MatrixXd scaled = panels_.download(near_side) * (2 * slopes_.off_pattern() * x.values()).asDiagonal();
  const Eigen::MatrixXd small = panels_.gram(far, far);
  const Eigen::MatrixXd mixed = panels_.download(cross) * scaled.transpose();
  gram += mixed + mixed.transpose() + scaled * small * scaled.transpose();
}

SpectralBound NormBound::from_gram(Slopes which, Side side, bool exact, double passes) {
  counters_.passes += passes;
  counters_.certificate_passes += passes;
  Eigen::MatrixXd gram =
      store_.gram(which, side, norm_.factors(Side::left, Use::exact), norm_.factors(Side::right, Use::exact));
  const double stored_square = norm_.plain() ? slopes_.square(which) : gram.trace();
  double frobenius = std::sqrt(stored_square);
  if (!norm_.plain()) counters_.passes += 1;  // the copy that was scaled
  if (slopes_.has_low_rank_part()) {
    add_low_rank(which, side, gram);
    frobenius += 2 * slopes_.off_pattern() * std::sqrt(square_norm_);
  }
  // Rounding of the Gram matrix itself: each entry is a sum of at most max(m, n) products.
  const double unit = std::numeric_limits<double>::epsilon();
  const double longest = std::max(store_.facts().rows, store_.facts().cols);
  const double gram_error = 2 * (longest + 10) * unit * frobenius * frobenius;
  double square = 0;
  if (exact) {
    square = largest_eigenvalue_bound(gram);
  } else {
    const double about = estimate(which);
    square = cholesky_bound(gram, std::max(about * about, 1e-300));
  }
  return {std::sqrt(square + gram_error) + rounding_margin(stored_square),
          exact ? SpectralBound::Proof::exact : SpectralBound::Proof::cholesky, 0.0};
}

SpectralBound NormBound::from_lanczos(Slopes which, int steps) {
  const Index cols = store_.facts().cols;
  const Panel start = panels_.make(Side::right, Use::exact, 1);
  panels_.draw(1 / std::sqrt(static_cast<double>(cols)), random_, start);
  const double before = counters_.passes;
  const auto [value, made] = lanczos_value(
      panels_, [&](const Panel& v, const Panel& out) { slopes_.normal(which, v, out); }, start, steps);
  counters_.certificate_passes += counters_.passes - before;
  const double shortfall = lanczos_shortfall(cols, made, kFailureProbability);
  if (shortfall >= 1) return {std::numeric_limits<double>::infinity(), SpectralBound::Proof::none, 0};
  const double square = slopes_.square(which) * norm_.largest() * norm_.largest();
  return {std::sqrt(value / (1 - shortfall)) + rounding_margin(square), SpectralBound::Proof::probabilistic,
          kFailureProbability};
}

SpectralBound NormBound::bound(Slopes which, double work) {
  const StoreFacts& facts = store_.facts();
  const Side side = facts.cols <= facts.rows ? Side::right : Side::left;
  const double length = std::min(facts.rows, facts.cols);
  const double pass = static_cast<double>(facts.entries);
  const double operations = facts.work.operations_per_entry * pass;  // of dense algebra, in the time of a pass
  double gram_passes = side == Side::right ? facts.work.gram_of_columns : facts.work.gram_of_rows;
  if (slopes_.has_low_rank_part()) gram_passes += iterate_.terms() * (1 + 4 * length * length / operations);
  const double exact_passes = gram_passes + 4 * length * length * length / operations;
  const double cholesky_passes = gram_passes + length * length * length / 3 / operations;
  constexpr double kAlwaysExact = 48;  // costs microseconds
  constexpr double kMostExact = 512;
  if (length <= kAlwaysExact || (length <= kMostExact && exact_passes <= work)) {
    return from_gram(which, side, true, exact_passes);
  }
  // The basis of a Lanczos run is kept in memory: at most 8 MB or a byte an entry, unless that would be too few steps
  // to say anything. Every step is orthogonalised against all before it, twice.
  constexpr double kLeastSteps = 60;
  const auto cols = static_cast<double>(facts.cols);
  const double room = std::max(8e6, pass);
  const double most = std::clamp(room / (sizeof(Real) * cols), kLeastSteps, 400.0);
  const double steps = std::clamp(work, kLeastSteps, most);
  const double lanczos_passes = steps + 4 * cols * steps * steps / operations;
  if (cholesky_passes <= std::max(work, lanczos_passes)) return from_gram(which, side, false, cholesky_passes);
  return from_lanczos(which, static_cast<int>(steps));
}

}  // namespace tracenorm
