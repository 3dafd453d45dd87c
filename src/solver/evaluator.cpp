#include "solver/evaluator.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "cpu/backend.hpp"
#include "distributed/backend.hpp"
#include "linalg/kept_matrix.hpp"
#include "model/entry_functions.hpp"
#include "model/shared_rows.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A pass, and what entries cost that meet `width` multiply-adds some times: sixteen of those take about as long.
double passes_of(const Product& factors, int products) { return 1 + products * factors.left.columns() / 16.0; }

/// Columns of descents come in multiples of kFactorStep.
Index padded(Index columns) { return (columns + kFactorStep - 1) / kFactorStep * kFactorStep; }

}  // namespace

Evaluator::Evaluator(const Problem& problem, const Execution& execution, const Backend& backend, std::uint64_t seed)
    : Evaluator(problem, execution, backend.open(problem, execution), seed) {}

Evaluator::Evaluator(const Problem& problem, const Execution& execution, Place place, std::uint64_t seed)
    : problem_(problem),
      execution_(execution),
      radius_(problem.radius()),
      random_(seed),
      panels_(std::move(place.panels)),
      store_(std::move(place.store)),
      norm_(problem.constraint, *panels_),
      iterate_(rows(), cols(), *panels_, problem.constraint.symmetry),
      slopes_(*store_, *panels_, norm_, iterate_, counters_),
      pair_(slopes_, *panels_, store_->facts(), problem.constraint.symmetry, random_),
      norm_bound_(problem, *store_, *panels_, slopes_, pair_, iterate_, norm_, counters_, random_),
      offsets_(problem, *panels_, *store_, counters_),
      target_{panels_->make(Side::left, Use::exact, 1), panels_->make(Side::right, Use::exact, 1)} {
  leading_.atom = {pair_.left(), pair_.right(), -radius_};
  if (!offsets_.active()) return;
  const Index columns = padded(1 + kOffsetColumns);
  target_with_offsets_ = {panels_->make(Side::left, Use::descent, columns),
                          panels_->make(Side::right, Use::descent, columns)};
}

double Evaluator::kink_slope() const {
  if (std::holds_alternative<L1Penalty>(problem_.penalty)) return penalty_lambda(problem_.penalty);
  return std::visit(
      [](const auto& loss) {
        const Interval slopes = loss.slopes(1.0);
        const double size = std::max(std::abs(slopes.lower), std::abs(slopes.upper));
        return std::isfinite(size) ? size : 1.0;
      },
      problem_.loss);
}

bool Evaluator::cheap_conjugate() const {
  return std::visit([](const auto& loss) { return std::decay_t<decltype(loss)>::cheap_conjugate; }, problem_.loss);
}

double Evaluator::off_pattern(double square_norm, double observed_square) const {
  // Rounding must not make it negative.
  return slopes_.off_pattern() * std::max(0.0, square_norm - observed_square);
}

Linearization Evaluator::linearize(double width, bool want_conjugate) {
  count_pass();
  const NormalProduct* first = pair_.ride_along();
  if (first != nullptr) {
    counters_.products += first->in.columns();
    if (first->in.columns() > 1) count_pass(store_->facts().work.block_pass);
  }
  const EntrySums sums = store_->linearize(width, want_conjugate, first);
  if (first != nullptr) pair_.arrived();
  slopes_.observe(Slopes::current, sums.square_slope);
  const double off = off_pattern(square_norm_, sums.square_x);  // there: slope 2 lambda x, conjugate lambda x^2
  Linearization model{sums.objective + off, sums.inner + 2 * off, want_conjugate ? sums.conjugate + off : kNaN};
  if (offsets_.active()) {
    offsets_.sum(Slopes::current);
    model.objective += offsets_.ridge();
    model.inner -= offsets_.inner();
    model.conjugate_sum += offsets_.conjugate();
  }
  return model;
}

void Evaluator::shift_kinks(double width) {
  if (width > 0) count_pass();
  store_->shift_kinks(width);
}

const LeadingAtom& Evaluator::leading_atom(const OracleAccuracy& accuracy) {
  pair_.find(accuracy);
  leading_.sigma = pair_.sigma();
  leading_.atom.weight = radius_ * pair_.weight();
  leading_.products = pair_.products();
  return leading_;
}

void Evaluator::aim(const Atom& atom, std::optional<double> step) {
  aimed_ = atom;
  aimed_matrix_.reset();
  panels_->add(0, atom.weight, atom.left, target_.left);
  panels_->add(0, 1, atom.right, target_.right);
  norm_.scale(target_.left);
  norm_.scale(target_.right);
  if (offsets_.active()) {
    step ? offsets_.aim_down(*step) : offsets_.aim(offsets_.now());
    panels_->add(0, 1, target_.left, target_with_offsets_.left.column(0));
    panels_->add(0, 1, target_.right, target_with_offsets_.right.column(0));
    offsets_.join(offsets_.target(), 1, target_with_offsets_);
    store_->aim(target_with_offsets_);
    return;
  }
  store_->aim(target_);
  if (!slopes_.has_low_rank_part()) return;
  target_inner_ = atom.weight * iterate_.inner(atom.left, atom.right);
  target_square_ = atom.weight * atom.weight;
}

Product Evaluator::sampled(const FactoredMatrix& matrix, Index spare) {
  return sampled(matrix, FactoredMatrix(*panels_), spare);
}

Product Evaluator::sampled(const FactoredMatrix& matrix, const FactoredMatrix& more, Index spare) {
  const Index columns = padded(std::max<Index>(matrix.terms() + more.terms(), 1) + spare);
  Product product{panels_->make(Side::left, Use::descent, columns), panels_->make(Side::right, Use::descent, columns)};
  Index first = 0;
  for (const FactoredMatrix* part : {&matrix, &more}) {
    const Index terms = part->terms();
    if (terms == 0) continue;
    const Eigen::VectorXd root = part->values().cwiseAbs().cwiseSqrt();
    const Eigen::VectorXd signed_root = root.cwiseProduct(part->values().cwiseSign());
    panels_->combine(0, part->left(), signed_root.asDiagonal().toDenseMatrix(), product.left.middle(first, terms));
    panels_->combine(0, part->right(), root.asDiagonal().toDenseMatrix(), product.right.middle(first, terms));
    first += terms;
  }
  return product;
}

void Evaluator::aim(FactoredMatrix given, const OffsetPanels& offsets) {
  const FactoredMatrix& target = aimed_matrix_.emplace(std::move(given));
  const Product at = sampled(target, offsets_.columns());
  norm_.scale(at.left);
  norm_.scale(at.right);
  if (offsets_.active()) {
    offsets_.aim(offsets);
    offsets_.join(offsets_.target(), 1, at);
  }
  count_pass(passes_of(at, 1));
  store_->aim(at);
  if (!slopes_.has_low_rank_part()) return;
  target_inner_ = iterate_.factors().inner(target);
  target_square_ = target.inner(target);
}

double Evaluator::square_at(double t) const {
  return (1 - t) * (1 - t) * square_norm_ + 2 * t * (1 - t) * target_inner_ + t * t * target_square_;
}

SegmentPoint Evaluator::off_pattern_at(double t, double square, double square_derivative) const {
  // |X(t)|_F^2 is a parabola; its part on the pattern came with the pass.
  const double derivative = 2 * ((t - 1) * square_norm_ + (1 - 2 * t) * target_inner_ + t * target_square_);
  return {off_pattern(square_at(t), square), slopes_.off_pattern() * (derivative - square_derivative)};
}

void Evaluator::objective_at(std::span<const double> t, std::span<SegmentPoint> out) {
  assert(t.size() == out.size());
  count_pass();
  const SegmentSums sums = store_->segment(t, std::nullopt);
  for (std::size_t p = 0; p < t.size(); ++p) {
    const SegmentPoint off = off_pattern_at(t[p], sums.square[p], sums.square_derivative[p]);
    SegmentPoint ridge{};
    offsets_.ridge_at(t[p], ridge.value, ridge.derivative);
    out[p] = {sums.value[p] + off.value + ridge.value, sums.derivative[p] + off.derivative + ridge.derivative};
  }
}

void Evaluator::smoothed_derivatives_at(std::span<const double> t, double width, std::span<double> out) {
  assert(t.size() == out.size());
  count_pass();
  const SegmentSums sums = store_->segment(t, width);
  for (std::size_t p = 0; p < t.size(); ++p) {
    SegmentPoint ridge{};
    offsets_.ridge_at(t[p], ridge.value, ridge.derivative);
    out[p] = sums.derivative[p] + off_pattern_at(t[p], sums.square[p], sums.square_derivative[p]).derivative +
             ridge.derivative;
  }
}

double Evaluator::move(double t) {
  count_pass();
  pair_.slopes_change();
  const double largest = store_->move(t);
  offsets_.move(t);
  if (slopes_.has_low_rank_part()) square_norm_ = square_at(t);
  if (aimed_matrix_) {
    iterate_.blend(t, *std::move(aimed_matrix_));
    aimed_matrix_.reset();
  } else if (iterate_.blend(t, aimed_)) {
    load();
  }
  return largest;
}

Linearization Evaluator::factor_gradient(const Product& at, double scale, double width, const Product& products,
                                         const OffsetPanels& offsets, const OffsetPanels& offset_gradient) {
  count_pass(passes_of(at, 3));
  counters_.products += 2 * at.left.columns();
  const bool off_pattern_too = slopes_.has_low_rank_part();
  if (off_pattern_too) {
    const Index columns = at.left.columns();
    left_gram_.resize(columns, columns);
    right_gram_.resize(columns, columns);
    panels_->gram(at.left, at.left, left_gram_);
    panels_->gram(at.right, at.right, right_gram_);
  }
  norm_.scale(at.left);
  norm_.scale(at.right);
  offsets_.join(offsets, scale, at);
  const EntrySums sums = store_->factor_gradient(at, scale, width, products);
  Linearization model{sums.objective, sums.inner, kNaN};
  if (offsets_.active()) {
    model.objective += offsets_.ridge(offsets);
    model.inner -= offsets_.part(offsets, scale, products, offset_gradient);
  }
  norm_.scale(products.left);
  norm_.scale(products.right);
  if (off_pattern_too) {  // slopes off the pattern are 2 lambda X, and the norm is plain
    const double off = off_pattern(scale * scale * left_gram_.cwiseProduct(right_gram_).sum(), sums.square_x);
    model.objective += off;
    model.inner += 2 * off;
    const double factor = 2 * slopes_.off_pattern() * scale;
    left_gram_ *= factor;
    right_gram_ *= factor;
    panels_->combine(1, at.left, right_gram_, products.left);
    panels_->combine(1, at.right, left_gram_, products.right);
  }
  return model;
}

void Evaluator::multiply(const Product& block, const Product& out) {
  count_pass(passes_of(block, 2));
  counters_.products += 2 * block.left.columns();
  Product met = block;
  if (!norm_.plain()) {
    met = {panels_->copy(block.left), panels_->copy(block.right)};
    norm_.scale(met.left);
    norm_.scale(met.right);
  }
  store_->multiply(Slopes::current, met, out);
  norm_.scale(out.left);
  norm_.scale(out.right);
  if (!slopes_.has_low_rank_part() || iterate().terms() == 0) return;
  const Product x = sampled(iterate());
  const double factor = 2 * slopes_.off_pattern();
  panels_->combine(1, x.left, factor * panels_->gram(x.right, block.right), out.left);
  panels_->combine(1, x.right, factor * panels_->gram(x.left, block.left), out.right);
}

void Evaluator::load() {
  pair_.slopes_change();
  count_pass();
  square_norm_ = iterate().values().squaredNorm();
  store_->load(offsets_.joined(norm_.to_data(iterate().copy())).view());
}

void Evaluator::restart(FactoredMatrix x) {
  iterate_.restart(std::move(x));
  load();
}

double Evaluator::off_pattern_bound(const FactoredMatrix& x, double observed_square) {
  if (!slopes_.has_low_rank_part()) return 0;
  // |X|_F^2 is a sum of products of inner products of its vectors, and the entries' squares are of sums over its terms;
  // all of them are bounded by the square of the trace norm.
  const double bound = x.trace_norm_bound();
  const double roundings = 2 * (static_cast<double>(rows()) + cols() + 2.0 * x.terms() + 20);
  const double rounding = roundings * std::numeric_limits<double>::epsilon() * bound * bound;
  return off_pattern(x.inner(x), observed_square) + slopes_.off_pattern() * rounding;
}

double Evaluator::objective_of_data(const FactoredMatrix& x) {
  count_pass(2);
  const EntrySums sums = store_->objective(offsets_.joined(x.copy()).view());
  return sums.objective + sums.rounding + off_pattern_bound(x, sums.square_x) + offsets_.ridge_bound();
}

double Evaluator::objective(const FactoredMatrix& x) {
  return norm_.plain() ? objective_of_data(x) : objective_of_data(norm_.to_data(x.copy()));
}

double Evaluator::objective(const ModelPoint& point) {
  if (!offsets_.active()) return objective(point.x);
  const OffsetPanels now = offsets_.copy(offsets_.now());
  offsets_.set(point.offsets);
  const double value = objective(point.x);
  offsets_.set(now);
  return value;
}

void Evaluator::restart(ModelPoint point) {
  offsets_.set(point.offsets);
  restart(std::move(point.x));
}

void Evaluator::compress() {
  iterate_.compress();
  load();
}

void Evaluator::average(double t) {
  count_certificate_pass();
  store_->average(t);
}

double Evaluator::make_dual(Slopes which) {
  count_certificate_pass();
  std::optional<FactorView> x;
  if (slopes_.has_low_rank_part()) x.emplace(iterate().view());
  const EntrySums sums = store_->conjugates(which, x ? &*x : nullptr);
  slopes_.observe(Slopes::dual, sums.square_slope);
  double conjugates = sums.conjugate + sums.rounding;
  // Off the pattern the slopes are 2 lambda x, and the conjugates lambda x^2.
  if (x) conjugates += off_pattern_bound(iterate(), sums.square_x);
  if (offsets_.active()) {
    offsets_.sum(Slopes::dual);
    conjugates += offsets_.conjugate_bound(sums.square_slope);
  }
  return conjugates;
}

double Evaluator::zero_conjugate_sum() {
  count_certificate_pass();
  const EntrySums sums = store_->conjugates(Slopes::zero, nullptr);
  return sums.square_slope == 0 ? sums.conjugate + sums.rounding : std::numeric_limits<double>::infinity();
}

Offset Evaluator::dual_size() const {
  const auto* l1 = std::get_if<L1Penalty>(&problem_.penalty);
  const auto* sparse = std::get_if<SparseObservations>(&problem_.observations);
  if (sparse != nullptr && (l1 == nullptr || l1->lambda == 0)) return all_entries(*sparse);
  return static_cast<Offset>(rows()) * cols();
}

DualPoint Evaluator::dual_point() {
  DualPoint point{store_->dual_slopes(), LowRankMatrix(rows(), cols())};
  if (!slopes_.has_low_rank_part()) return point;
  point.elsewhere = downloaded();
  point.elsewhere.scale(2 * slopes_.off_pattern());
  return point;
}

void Evaluator::exchange(Exchange state, ModelPoint& point) {
  LowRankMatrix x = point.x.download(rows(), cols());
  tracenorm::exchange(state, x);
  if (state.restores()) {
    if (x.rows() != rows() || x.cols() != cols()) {
      throw Error(ErrorCode::input, "the checkpoint is of a matrix of another size; it is damaged");
    }
    point.x = FactoredMatrix(*panels_, x);
  }
  if (!offsets_.active()) return;
  SideOffsets offsets;
  if (!state.restores()) offsets = offsets_.download(point.offsets);
  state.list("row_offsets", offsets.row);
  state.list("col_offsets", offsets.col);
  if (state.restores()) point.offsets = offsets_.upload(offsets);
}

bool Evaluator::exchange(Exchange state, bool remembers) {
  const auto meet = [&](const char* name, ModelPoint point) {
    exchange(state.part(name), point);
    return point;
  };
  if (remembers) {
    ModelPoint best{FactoredMatrix(*panels_)};
    if (!state.restores()) best = {iterate_.remembered(), offsets_.copy(offsets_.remembered())};
    best = meet("remembered", std::move(best));
    offsets_.remember(best.offsets);
    iterate_.remember(std::move(best.x));
  }
  ModelPoint now = meet("iterate", point());
  if (state.restores()) {
    offsets_.set(now.offsets);
    iterate_.resume(std::move(now.x));
  }
  const bool kept = store_->exchange(state.part("entries"));
  state.number("square_norm", square_norm_);
  if (state.restores() && !kept) compress();
  state.number("passes", counters_.passes);
  state.number("products", counters_.products);
  state.number("certificate_passes", counters_.certificate_passes);
  state.random("random", random_);
  return kept;
}

void Evaluator::watch(const Entries& held_out) {
  watched_ = held_out.size();
  store_->watch(held_out, offsets_.joined(norm_.to_data(iterate().copy())).view());
}

HeldOutError Evaluator::held_out_error() const {
  const HeldOutSums sums = store_->held_out();
  const auto count = static_cast<double>(watched_);
  return {std::sqrt(sums.square / count), sums.absolute / count, sums.loss / count};
}

namespace {

/// Of a problem whose rows are shared.
std::unique_ptr<Backend> among_ranks(const Problem& problem) {
  const auto* sparse = std::get_if<SparseObservations>(&problem.observations);
  if (sparse == nullptr || !sparse->shared) return nullptr;
  return std::make_unique<DistributedBackend>(cpu_backend(), *ranks_of(*sparse));
}

}  // namespace

OwnEvaluator::OwnEvaluator(const Problem& problem, int threads, std::uint64_t seed)
    : execution_(threads),
      shared_(among_ranks(problem)),
      evaluator_(problem, execution_, shared_ ? *shared_ : cpu_backend(), seed) {}

}  // namespace tracenorm
