#include "solver/norm_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/spectral_bound.hpp"
#include "linalg/symmetric_eigen.hpp"
#include "solver/lanczos.hpp"

namespace tracenorm {

namespace {

/// One probabilistic bound is wrong with at most this probability; the certificate adds them up.
constexpr double kFailureProbability = 1e-9;

constexpr int kEstimateBlocks = 8;

/// Sides of Gram matrices that are decomposed at once, whatever else a run does, and at most.
constexpr double kAlwaysExact = 48;
constexpr double kMostExact = 512;

/// Multiply-adds that take about a third of a second.
constexpr double kMoment = 8e9;

/// Margins are this many times as wide as they need to be: who proves a bound again should have some room, too.
constexpr double kHeadRoom = 4;

constexpr SpectralBound kNoBound{std::numeric_limits<double>::infinity(), SpectralBound::Proof::none, 0};

std::optional<SpectralBound::Proof> forced_proof;

}  // namespace

void force_proof(std::optional<SpectralBound::Proof> proof) { forced_proof = proof; }

NormBound::NormBound(const Problem& problem, EntryStore& store, Panels& panels, SlopeMatrix& slopes, LeadingPair& pair,
                     Iterate& iterate, const WeightedNorm& norm, Counters& counters, Random& random)
    : problem_(problem),
      symmetry_(problem.constraint.symmetry),
      store_(store),
      panels_(panels),
      slopes_(slopes),
      pair_(pair),
      iterate_(iterate),
      norm_(norm),
      counters_(counters),
      random_(random) {}

template <class Work>
auto NormBound::certifying(Work&& work) {
  const double before = counters_.passes;
  auto result = work();
  counters_.certificate_passes += counters_.passes - before;
  return result;
}

void NormBound::spend(double passes) {
  counters_.passes += passes;
  counters_.certificate_passes += passes;
}

Panel NormBound::random_start() {
  Panel start = panels_.make(Side::right, Use::exact, 1);
  panels_.draw(1 / std::sqrt(static_cast<double>(store_.facts().cols)), random_, start);
  return start;
}

double NormBound::estimate(Slopes which) {
  if (which == Slopes::current) return pair_.sigma();
  if (!dual_krylov_) {
    dual_krylov_ = std::make_unique<BlockKrylov>(panels_, Use::search, 1, kEstimateBlocks, end_of(symmetry_));
    dual_start_ = panels_.make(Side::right, Use::search, 1);
    dual_product_ = panels_.make(Side::left, Use::search, 1);
    panels_.add(0, 1, pair_.right(), dual_start_);
  }
  draw_start(panels_, dual_start_, true, random_);
  const double size = slopes_.size(which);
  const KrylovResult found = certifying([&] {
    return dual_krylov_->leading(
        [&](int, const Panel& q, const Panel& out) {
          symmetry_ == Symmetry::none ? slopes_.normal(which, size, q, out, dual_product_)
                                      : slopes_.product(which, size, q, out);
        },
        dual_start_, 1e-3,
        symmetry_ == Symmetry::none ? 16 : 32);  // what it decides is only whether a proof is worth its passes
  });
  if (symmetry_ != Symmetry::none) return size * gain(symmetry_, found.eigenvalue);
  return size * std::sqrt(std::max(0.0, found.eigenvalue));
}

double NormBound::rounding_margin() const {
  if (!slopes_.has_low_rank_part()) return 0;  // what is multiplied are the numbers whose conjugates were summed
  const double unit = std::numeric_limits<Real>::epsilon();
  const double exact_unit = std::numeric_limits<double>::epsilon();
  const FactoredMatrix& x = iterate_.factors();
  return unit * std::sqrt(slopes_.square(Slopes::dual)) +
         2 * slopes_.off_pattern() * (x.terms() + 4.0) * exact_unit * 2 * x.trace_norm_bound();
}

void NormBound::add_low_rank(Side side, Eigen::MatrixXd& gram) {
  // G = M + L with L = U C V': G'G = M'M + (M'U) C V' + V C (U'M) + V C (U'U) C V', or the same transposed.
  const FactoredMatrix& x = iterate_.factors();
  if (x.terms() == 0) return;
  const Panel near_side = side == Side::right ? x.right() : x.left();
  const Panel far = side == Side::right ? x.left() : x.right();
  const Panel cross = panels_.make(side, Use::exact, x.terms());
  for (Index t = 0; t < x.terms(); ++t) slopes_.apply_entries(Slopes::dual, far.column(t), cross.column(t));
  const Eigen::MatrixXd scaled = panels_.download(near_side) * (2 * slopes_.off_pattern() * x.values()).asDiagonal();
  const Eigen::MatrixXd small = panels_.gram(far, far);
  const Eigen::MatrixXd mixed = panels_.download(cross) * scaled.transpose();
  gram += mixed + mixed.transpose() + scaled * small * scaled.transpose();
}

SpectralBound NormBound::from_gram(const Costs& costs, bool exact, double estimate) {
  Eigen::MatrixXd gram = store_.gram(Slopes::dual, costs.side, norm_.factors(Side::left, Use::exact),
                                     norm_.factors(Side::right, Use::exact));
  double frobenius = std::sqrt(gram.trace());
  double margin = rounding_margin();
  double terms = 0;
  if (!norm_.plain()) {  // the copy that was scaled was rounded to Real, or to nothing where numbers get too small for
                         // it
    counters_.passes += 1;
    margin += std::numeric_limits<Real>::epsilon() * frobenius +
              std::numeric_limits<Real>::min() * std::sqrt(static_cast<double>(store_.facts().entries));
  }
  if (slopes_.has_low_rank_part()) {
    add_low_rank(costs.side, gram);
    terms = iterate_.terms();
    frobenius += 4 * slopes_.off_pattern() * iterate_.factors().trace_norm_bound();
  }
  // Every entry of the Gram matrix is a sum of products; in such a sum of n terms rounding is at most n units of the
  // sum of absolute values, and the matrix of those has a norm of at most |M|_F^2.
  const double unit = std::numeric_limits<double>::epsilon();
  const double longest = std::max(store_.facts().rows, store_.facts().cols);
  const double gram_error = kHeadRoom * (longest + 2 * terms + 10) * unit * frobenius * frobenius;
  const double square = exact ? largest_eigenvalue_bound(gram) : cholesky_bound(gram, estimate * estimate, 1e-7);
  return {(std::sqrt(square + gram_error) + margin) * (1 + 4 * unit),
          exact ? SpectralBound::Proof::exact : SpectralBound::Proof::cholesky, 0.0};
}

Eigen::MatrixXd NormBound::dual_matrix(double& error) {
  const Index n = store_.facts().rows;
  const double unit = std::numeric_limits<double>::epsilon();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n, n);
  error = 0;
  if (slopes_.has_low_rank_part()) {
    const LowRankMatrix x = iterate_.factors().download(n, n);
    matrix = 2 * slopes_.off_pattern() * x.dense();
    error = kHeadRoom * unit * (x.terms() + 4.0) * 2 * slopes_.off_pattern() * x.trace_norm_bound();
  }
  const std::vector<Real> slope = store_.dual_slopes();
  const auto* sparse = std::get_if<SparseObservations>(&problem_.observations);
  if (sparse != nullptr && static_cast<Offset>(slope.size()) == sparse->pattern.entries()) {
    for (Index i = 0; i < n; ++i) {
      for (Offset e = sparse->pattern.begin()[i]; e < sparse->pattern.begin()[i + 1]; ++e) {
        if (sparse->pattern.col()[e] <= i)
          matrix(i, sparse->pattern.col()[e]) = double(slope[static_cast<std::size_t>(e)]);
      }
    }
  } else {
    for (Index j = 0; j < n; ++j) {  // by columns, which are rows of the slopes
      const Real* row = slope.data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(n);
      for (Index i = j; i < n; ++i) matrix(i, j) = double(row[i]);
    }
  }
  if (!norm_.plain()) {
    const Eigen::VectorXd factor = panels_.download(norm_.factors(Side::left, Use::exact));
    matrix = factor.asDiagonal() * matrix * factor.asDiagonal();
    error = error * norm_.largest() +
            kHeadRoom * unit * std::sqrt(2.0) * matrix.triangularView<Eigen::Lower>().toDenseMatrix().norm();
  }
  return matrix;
}

SpectralBound NormBound::from_matrix(bool exact, double estimate) {
  double error = 0;
  Eigen::MatrixXd matrix = dual_matrix(error);
  double slack = 1e-7;
  double least = estimate;
  double largest = estimate;
  if (exact) {
    const Eigen::VectorXd values = symmetric_eigenvalues(matrix);
    slack = 1e-13 * static_cast<double>(matrix.rows());
    least = std::max(0.0, -values[0]);
    largest = std::max(0.0, values[values.size() - 1]);
  }
  double bound = one_sided_bound(matrix, -1, least, slack);
  if (symmetry_ == Symmetry::symmetric) bound = std::max(bound, one_sided_bound(matrix, 1, largest, slack));
  return {(bound + error) * (1 + 4 * std::numeric_limits<double>::epsilon()),
          exact ? SpectralBound::Proof::exact : SpectralBound::Proof::cholesky, 0.0};
}

SpectralBound NormBound::from_both_ends(int steps) {
  const LanczosEnds ends = certifying([&] {
    return lanczos_ends(
        panels_, [&](const Panel& v, const Panel& out) { slopes_.apply(Slopes::dual, v, out); }, random_start(), steps,
        random_);
  });
  const double shortfall = lanczos_shortfall(store_.facts().cols, ends.steps, kFailureProbability / 2);
  if (!(shortfall < 0.5) || !std::isfinite(ends.largest) || !std::isfinite(ends.least)) return kNoBound;
  const double norm = std::max({ends.largest, -ends.least, 0.0}) / (1 - 2 * shortfall);
  double value = norm;
  if (symmetry_ == Symmetry::semidefinite) value = std::max(0.0, (-ends.least + shortfall * norm) / (1 - shortfall));
  return {value + rounding_margin(), SpectralBound::Proof::probabilistic, kFailureProbability};
}

SpectralBound NormBound::from_lanczos(int steps) {
  if (symmetry_ != Symmetry::none) return from_both_ends(2 * steps);
  const LanczosValue ritz = certifying([&] {
    return lanczos_value(
        panels_, [&](const Panel& v, const Panel& out) { slopes_.normal(Slopes::dual, v, out); }, random_start(), steps,
        random_);
  });
  const double shortfall = lanczos_shortfall(store_.facts().cols, ritz.steps, kFailureProbability);
  if (shortfall >= 1 || !std::isfinite(ritz.value)) return kNoBound;
  return {std::sqrt(ritz.value / (1 - shortfall)) + rounding_margin(), SpectralBound::Proof::probabilistic,
          kFailureProbability};
}

NormBound::Costs NormBound::costs() const {
  const StoreFacts& facts = store_.facts();
  const Side side = facts.cols <= facts.rows ? Side::right : Side::left;
  const double length = std::min(facts.rows, facts.cols);
  const double operations = facts.work.operations_per_entry * static_cast<double>(facts.entries);  // in a pass
  double gram = side == Side::right ? facts.work.gram_of_columns : facts.work.gram_of_rows;
  if (slopes_.has_low_rank_part()) gram += iterate_.terms() * (1 + 4 * length * length / operations);
  const double cube = length * length * length / operations;
  if (symmetry_ != Symmetry::none) {
    const double proofs = symmetry_ == Symmetry::symmetric ? 2 : 1;
    return {side, length, 4 * cube + proofs * cube / 3, proofs * cube / 3, kMoment / operations};
  }
  return {side, length, gram + 4 * cube, gram + cube / 3, kMoment / operations};
}

bool NormBound::certain_in_a_moment() const {
  const Costs costs = this->costs();
  return !forced_proof && costs.cholesky <= costs.moment;
}

SpectralBound NormBound::certain_bound(double estimate) {
  const Costs costs = this->costs();
  return from_algebra(costs, costs.length <= kMostExact && costs.exact <= costs.moment, estimate);
}

NormBound::Plan NormBound::plan(double work) const {
  using Proof = SpectralBound::Proof;
  const Costs costs = this->costs();
  if (forced_proof) return {costs, *forced_proof, 200};
  if (costs.length <= kAlwaysExact || (costs.length <= kMostExact && costs.exact <= work)) {
    return {costs, Proof::exact, 0};
  }
  // The basis of a Lanczos run is kept in memory: at most 8 MB or a byte an entry, unless that would be too few steps
  // to say anything. Every step is orthogonalised against all before it, twice.
  constexpr double kLeastSteps = 60;
  const auto cols = static_cast<double>(store_.facts().cols);
  const auto pass = static_cast<double>(store_.facts().entries);
  const double room = std::max(8e6, pass);
  const double most = std::clamp(room / (sizeof(Real) * cols), kLeastSteps, 400.0);
  // Of a symmetric matrix a step is two products, each of them a pass.
  const double steps = std::clamp(symmetry_ == Symmetry::none ? work : work / 2, kLeastSteps, most);
  const double lanczos = steps + 4 * cols * steps * steps / (store_.facts().work.operations_per_entry * pass);
  const bool affordable = costs.cholesky <= std::max(work, lanczos);
  return {costs, affordable ? Proof::cholesky : Proof::probabilistic, static_cast<int>(steps)};
}

SpectralBound NormBound::bound(double estimate, double work) {
  const Plan plan = this->plan(work);
  if (plan.proof == SpectralBound::Proof::probabilistic) return from_lanczos(plan.steps);
  return from_algebra(plan.costs, plan.proof == SpectralBound::Proof::exact, estimate);
}

}  // namespace tracenorm
