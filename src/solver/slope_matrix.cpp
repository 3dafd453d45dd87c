#include "solver/slope_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace tracenorm {

SlopeMatrix::SlopeMatrix(EntryStore& store, Panels& panels, const WeightedNorm& norm, const Iterate& iterate,
                         Counters& counters)
    : store_(store),
      panels_(panels),
      norm_(norm),
      iterate_(iterate),
      counters_(counters),
      lambda_(store.facts().off_pattern) {
  const Index columns = store.facts().search_columns;
  block_ = panels.make(Side::right, Use::search, columns);
  for (const Side side : {Side::left, Side::right}) {
    scaled_[static_cast<std::size_t>(side)] = panels.make(side, Use::exact, 1);
  }
  if (!has_low_rank_part()) return;
  addend_ = panels.make(Side::left, Use::exact, 1);
  row_product_ = panels.make(Side::left, Use::exact, 1);
  block_addend_ = panels.make(Side::left, Use::search, columns);
  block_part_ = panels.make(Side::right, Use::search, columns);
  for (const Side side : {Side::left, Side::right}) {
    exact_block_[static_cast<std::size_t>(side)] = panels.make(side, Use::exact, columns);
  }
}

void SlopeMatrix::apply_entries(Slopes which, const Panel& v, const Panel& out) {
  counters_.passes += 1;
  ++counters_.products;
  const Panel& scaled = scaled_[static_cast<std::size_t>(v.side())];
  if (!norm_.plain()) {
    panels_.add(0, 1, v, scaled);
    norm_.scale(scaled);
  }
  store_.multiply(which, norm_.plain() ? v : scaled, out);
  norm_.scale(out);
}

void SlopeMatrix::apply(Slopes which, const Panel& v, const Panel& out) {
  apply_entries(which, v, out);
  if (has_low_rank_part()) add_low_rank(v, out);
}

void SlopeMatrix::normal(Slopes which, const Panel& v, const Panel& out) {
  counters_.passes += 1;
  ++counters_.products;
  NormalProduct product{v, out, {}, norm_.factors(Side::left, Use::exact)};
  if (!norm_.plain()) {
    product.in = scaled_[static_cast<std::size_t>(Side::right)];
    panels_.add(0, 1, v, product.in);
    norm_.scale(product.in);
  }
  if (has_low_rank_part()) {  // its share of M v is known before the pass, row by row
    product.addend = addend_;
    product.product = row_product_;
    panels_.add(0, 0, addend_, addend_);
    add_low_rank(v, addend_);
  }
  store_.multiply(which, product);
  norm_.scale(out);
  if (has_low_rank_part()) add_low_rank(row_product_, out);
}

double SlopeMatrix::whole_size(Slopes which) const {
  constexpr double least = 1e-36;  // its inverse is a Real
  const double square = this->square(which);
  return square > 0 && std::isfinite(square) ? std::max(least, norm_.largest() * std::sqrt(square)) : 1.0;
}

double SlopeMatrix::size(Slopes which) const {
  const double size = whole_size(which);
  return fits(1.0, which) && store_.facts().work.answer > 0 ? 1.0 : size;
}

bool SlopeMatrix::fits(double size, Slopes which) const {
  const double relative = whole_size(which) / size;
  return relative > 1e-6 && relative < 1e6;
}

NormalProduct SlopeMatrix::begin(double size, const Panel& v, const Panel& out, const Panel& product) {
  const Index columns = v.columns();
  NormalProduct result{columns == block_.columns() ? block_ : panels_.make(Side::right, Use::search, columns), out,
                       product, norm_.factors(Side::left, Use::search)};
  if (size == 1 && norm_.plain()) {
    result.in = v;
  } else {
    panels_.add(0, 1 / size, v.flat(), result.in.flat());
    norm_.scale(result.in);
  }
  if (!has_low_rank_part()) return result;
  const Panel rows = exact_block_[static_cast<std::size_t>(Side::left)].middle(0, columns);
  const Panel cols = exact_block_[static_cast<std::size_t>(Side::right)].middle(0, columns);
  result.addend = columns == block_.columns() ? block_addend_ : panels_.make(Side::left, Use::search, columns);
  for (Index c = 0; c < columns; ++c) {
    panels_.add(0, 1, v.column(c), cols.column(c));
    panels_.add(0, 0, rows.column(c), rows.column(c));
    add_low_rank(cols.column(c), rows.column(c));
    panels_.add(0, 1 / size, rows.column(c), result.addend.column(c));
  }
  return result;
}

void SlopeMatrix::product(Slopes which, double size, const Panel& v, const Panel& out) {
  counters_.passes += 1;
  ++counters_.products;
  store_.multiply(which, begin(size, v, {}, out));
}

void SlopeMatrix::end(double size, const NormalProduct& product) {
  if (!product.out) return;
  if (size != 1) panels_.add(0, 1 / size, product.out.flat(), product.out.flat());
  norm_.scale(product.out);
  if (!has_low_rank_part()) return;
  const Index columns = product.in.columns();
  const Panel rows = exact_block_[static_cast<std::size_t>(Side::left)].middle(0, columns);
  const Panel cols = exact_block_[static_cast<std::size_t>(Side::right)].middle(0, columns);
  const Panel part = columns == block_.columns() ? block_part_ : panels_.make(Side::right, Use::search, columns);
  for (Index c = 0; c < columns; ++c) {
    panels_.add(0, 1, product.product.column(c), rows.column(c));
    panels_.add(0, 0, cols.column(c), cols.column(c));
    add_low_rank(rows.column(c), cols.column(c));
    panels_.add(0, 1 / size, cols.column(c), part.column(c));
  }
  panels_.add(1, 1, part.flat(), product.out.flat());
}

void SlopeMatrix::normal(Slopes which, double size, const Panel& v, const Panel& out, const Panel& product,
                         bool rough) {
  counters_.passes += 1 + (v.columns() > 1 ? store_.facts().work.block_pass : 0);
  counters_.products += v.columns();
  NormalProduct terms = begin(size, v, out, product);
  terms.rough = rough;
  store_.multiply(which, terms);
  end(size, terms);
}

}  // namespace tracenorm
