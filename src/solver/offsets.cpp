#include "solver/offsets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tracenorm {

namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon();

/// How the pace of steps down the slopes changes, after a turn and without one.
constexpr double kSlower = 0.5;
constexpr double kFaster = 1.2;

Eigen::VectorXd even_curvature(const std::vector<Offset>& counts, double ridge) {
  Eigen::VectorXd stretch(static_cast<Eigen::Index>(counts.size()));
  for (Eigen::Index i = 0; i < stretch.size(); ++i) {
    stretch[i] = 1 / std::sqrt(static_cast<double>(counts[static_cast<std::size_t>(i)]) + 2 * ridge);
  }
  return stretch;
}

}  // namespace

Offsets::Offsets(const Problem& problem, Panels& panels, EntryStore& store, Counters& counters)
    : ridge_(problem.offsets), panels_(panels), store_(store), counters_(counters) {
  if (!active()) return;
  for (OffsetPanels* panel : {&ones_, &now_, &target_, &remembered_, &sums_, &stretch_, &slopes_}) *panel = make();
  panels_.upload(Eigen::MatrixXd::Ones(store.facts().rows, 1), ones_.row);
  panels_.upload(Eigen::MatrixXd::Ones(store.facts().cols, 1), ones_.col);
  const Counts counts = count_observed(problem.observations);
  panels_.upload(even_curvature(counts.row, ridge_->row), stretch_.row);
  panels_.upload(even_curvature(counts.col, ridge_->col), stretch_.col);
}

OffsetPanels Offsets::make() const {
  return {panels_.make(Side::left, Use::exact, 1), panels_.make(Side::right, Use::exact, 1)};
}

void Offsets::copy(const OffsetPanels& from, const OffsetPanels& to) const {
  if (!active()) return;
  panels_.copy(from.row, to.row);
  panels_.copy(from.col, to.col);
}

OffsetPanels Offsets::copy(const OffsetPanels& offsets) const {
  if (!active()) return {};
  OffsetPanels out = make();
  copy(offsets, out);
  return out;
}

OffsetPanels Offsets::upload(const SideOffsets& offsets) const {
  OffsetPanels out = make();
  const auto vector = [](const std::vector<double>& v) {
    return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
  };
  panels_.upload(vector(offsets.row), out.row);
  panels_.upload(vector(offsets.col), out.col);
  return out;
}

SideOffsets Offsets::download(const OffsetPanels& offsets) const {
  if (!active()) return {};
  const Eigen::VectorXd row = panels_.download(offsets.row);
  const Eigen::VectorXd col = panels_.download(offsets.col);
  return {{row.begin(), row.end()}, {col.begin(), col.end()}};
}

void Offsets::aim(const OffsetPanels& offsets) { copy(offsets, target_); }

void Offsets::aim_down(double step) {
  double turn = 0;
  const auto side = [&](double ridge, const Panel& sums, const Panel& now, const Panel& stretch, const Panel& slopes) {
    panels_.add(1, 2 * ridge, now, sums);
    turn += panels_.dot(slopes, sums);
    panels_.add(0, 1, sums, slopes);
    panels_.scale_rows(slopes, stretch);
    panels_.scale_rows(slopes, stretch);
  };
  side(ridge_->row, sums_.row, now_.row, stretch_.row, slopes_.row);
  side(ridge_->col, sums_.col, now_.col, stretch_.col, slopes_.col);
  // Beyond 1 ridges alone would make it overshoot. Slopes also turn because X moved: no slower than X's own steps.
  pace_ = std::clamp(pace_ * (turn < 0 ? kSlower : kFaster), std::min(step, 1.0), 1.0);
  copy(now_, target_);
  panels_.add(1, -pace_ / step, slopes_.row, target_.row);
  panels_.add(1, -pace_ / step, slopes_.col, target_.col);
}

void Offsets::aim_scaled(double factor) {
  if (!active()) return;
  panels_.add(0, factor, now_.row, target_.row);
  panels_.add(0, factor, now_.col, target_.col);
}

void Offsets::move(double t) {
  if (!active()) return;
  panels_.add(1 - t, t, target_.row, now_.row);
  panels_.add(1 - t, t, target_.col, now_.col);
}

double Offsets::ridge(const OffsetPanels& offsets) const {
  return ridge_->row * panels_.dot(offsets.row, offsets.row) + ridge_->col * panels_.dot(offsets.col, offsets.col);
}

double Offsets::ridge_bound() const {
  const double terms = static_cast<double>(store_.facts().rows) + store_.facts().cols;
  return active() ? ridge() * (1 + (terms + 8) * kUnit) : 0;
}

void Offsets::ridge_at(double t, double& value, double& derivative) const {
  value = derivative = 0;
  if (!active()) return;
  const auto side = [&](double ridge, const Panel& a, const Panel& b) {
    const double aa = panels_.dot(a, a);
    const double ab = panels_.dot(a, b);
    const double bb = panels_.dot(b, b);
    value += ridge * ((1 - t) * (1 - t) * aa + 2 * t * (1 - t) * ab + t * t * bb);
    derivative += 2 * ridge * ((t - 1) * aa + (1 - 2 * t) * ab + t * bb);
  };
  side(ridge_->row, now_.row, target_.row);
  side(ridge_->col, now_.col, target_.col);
}

void Offsets::join(const OffsetPanels& offsets, double scale, const Product& product) const {
  if (!active()) return;
  const Index last = product.left.columns() - 1;
  panels_.add(0, 1 / scale, offsets.row, product.left.column(last - 1));
  panels_.add(0, 1, ones_.col, product.right.column(last - 1));
  panels_.add(0, 1 / scale, ones_.row, product.left.column(last));
  panels_.add(0, 1, offsets.col, product.right.column(last));
}

double Offsets::part(const OffsetPanels& offsets, double scale, const Product& products,
                     const OffsetPanels& gradient) const {
  const Index last = products.left.columns() - 1;
  panels_.add(0, 1, products.left.column(last - 1), gradient.row);
  panels_.add(0, scale, products.right.column(last), gradient.col);
  const double inner = panels_.dot(offsets.row, gradient.row) + panels_.dot(offsets.col, gradient.col);
  panels_.add(1, 2 * ridge_->row, offsets.row, gradient.row);
  panels_.add(1, 2 * ridge_->col, offsets.col, gradient.col);
  for (const Panel& side : {products.left, products.right}) {
    for (const Index k : {last - 1, last}) panels_.add(0, 0, side.column(k), side.column(k));
  }
  return inner;
}

FactoredMatrix Offsets::joined(FactoredMatrix x) const {
  if (active()) join(now_, 1, x.extend(kOffsetColumns));
  return x;
}

void Offsets::sum(Slopes which) {
  counters_.passes += 2;
  store_.multiply(which, ones_.col, sums_.row);
  store_.multiply(which, ones_.row, sums_.col);
}

double Offsets::conjugate() const {
  return panels_.dot(sums_.row, sums_.row) / (4 * ridge_->row) + panels_.dot(sums_.col, sums_.col) / (4 * ridge_->col);
}

double Offsets::conjugate_bound(double square) const {
  // The sum of n slopes is off by at most n units of the sum of their sizes, which is at most sqrt(n) times their norm:
  // over all rows together the error is at most n sqrt(n) units of |M|_F, n being the longest row's.
  const auto side = [&](double ridge, const Panel& sums, double longest, double count) {
    const double off = longest * std::sqrt(longest * square) * kUnit;
    const double size = std::sqrt(panels_.dot(sums, sums)) * (1 + (count + 8) * kUnit) + 2 * off;
    return size * size / (4 * ridge) * (1 + 8 * kUnit);
  };
  const StoreFacts& facts = store_.facts();
  return side(ridge_->row, sums_.row, facts.cols, facts.rows) + side(ridge_->col, sums_.col, facts.rows, facts.cols);
}

double Offsets::inner() const { return panels_.dot(now_.row, sums_.row) + panels_.dot(now_.col, sums_.col); }

}  // namespace tracenorm
