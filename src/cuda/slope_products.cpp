// Products of a CUDA store's slopes with panels.
#include <algorithm>
#include <type_traits>

#include "cuda/block_products.hpp"
#include "cuda/panels.hpp"
#include "cuda/passes.hpp"
#include "cuda/rough.hpp"

namespace tracenorm::cuda {

namespace {

template <class V>
V* data_of(const Panel& panel) {
  if constexpr (std::is_same_v<V, double>) {
    return doubles(panel);
  } else {
    return reals(panel);
  }
}

}  // namespace

const DeviceArray<Real>& CudaStore::kept_slopes(const Order& order, Slopes which) const {
  if (which == Slopes::dual && off_pattern()) return order.dual_rest;
  if (which == Slopes::dual) which = dual_of_;
  return which == Slopes::average ? order.average : order.slope;
}

const Real* CudaStore::slopes(const Order& order, Slopes which) {
  const DeviceArray<Real>& kept = kept_slopes(order, which);
  if (&kept == &order.slope) make_slopes();
  return kept.data();
}

void CudaStore::multiply(Slopes which, const Panel& in, const Panel& out) {
  const bool transposed = in.side() == Side::left;
  const Order& order = transposed ? orders_.back() : orders_.front();
  const Real* m = slopes(order, which);
  for (Index k = 0; k < in.columns(); ++k) {
    const double* from = doubles(in.column(k));
    RowTerms<double> terms;
    terms.out = doubles(out.column(k));
    if (!full()) {
      double* parts = room(*device_, double_parts_, static_cast<std::size_t>(order.pieces));
      times(order.sparse(m), from, 1, terms, parts, stream());
    } else if (transposed) {
      double* parts = room(*device_, double_parts_, static_cast<std::size_t>(kFullParts) * std::size_t(order.pitch));
      times_transposed(order.full(m), from, terms.out, parts, stream());
    } else {
      times(order.full(m), from, terms, stream());
    }
  }
}

template <class V>
void CudaStore::multiply_normal(Slopes which, const NormalProduct& p) {
  constexpr bool exact = std::is_same_v<V, double>;
  const auto choose = [](auto& in_real, auto& in_double) -> auto& {
    if constexpr (exact) {
      return in_double;
    } else {
      return in_real;
    }
  };
  DeviceArray<V>& parts = choose(real_parts_, double_parts_);
  DeviceArray<V>& rows = choose(real_rows_, double_rows_);
  const auto vectors = static_cast<std::size_t>(p.in.columns());
  const Order& by_rows = orders_.front();
  RowTerms<V> terms{data_of<V>(p.factor), data_of<V>(p.addend), data_of<V>(p.product)};
  if (p.out) terms.out = room(*device_, rows, static_cast<std::size_t>(facts_.rows) * vectors);
  RowTerms<V> back;
  back.out = data_of<V>(p.out);
  if (!full()) {
    const auto pieces = static_cast<std::size_t>(std::max(by_rows.pieces, orders_.back().pieces));
    room(*device_, parts, pieces * vectors);
    times(by_rows.sparse(slopes(by_rows, which)), data_of<V>(p.in), p.in.columns(), terms, parts.data(), stream());
    if (!p.out) return;
    times(orders_.back().sparse(slopes(orders_.back(), which)), static_cast<const V*>(terms.out), p.in.columns(), back,
          parts.data(), stream());
    return;
  }
  const FullRows m = by_rows.full(slopes(by_rows, which));
  room(*device_, parts, static_cast<std::size_t>(kFullParts) * static_cast<std::size_t>(m.pitch));
  if constexpr (!exact) {
    if (p.out && m.pitch <= kLongestFusedRow) return normal(m, reals(p.in), terms, back.out, parts.data(), stream());
  }
  times(m, static_cast<const V*>(data_of<V>(p.in)), terms, stream());
  if (!p.out) return;
  times_transposed(m, static_cast<const V*>(terms.out), back.out, parts.data(), stream());
}

bool CudaStore::multiply_roughly(Slopes which, const NormalProduct& p) {
  const Order& by_rows = orders_.front();
  const Order& by_columns = orders_.back();
  RowTerms<Real> terms{reals(p.factor), reals(p.addend), reals(p.product)};
  if (full()) {
    if (which != Slopes::current || !rough_slopes_) return false;
    Real* parts = room(*device_, real_parts_, static_cast<std::size_t>(kFullParts) * std::size_t(by_rows.pitch));
    rough_normal(by_rows.full(nullptr), by_rows.rough.data(), reals(p.in), terms, reals(p.out), parts, stream());
    return true;
  }
  if (p.in.columns() != kRoughVectors || by_rows.shares.empty() || by_columns.shares.empty()) return false;
  const auto pieces = static_cast<std::size_t>(std::max(by_rows.pieces, by_columns.pieces));
  Real* parts = room(*device_, real_parts_, pieces * kRoughVectors);
  if (p.out) {
    terms.rough = room(*device_, rough_rows_, static_cast<std::size_t>(facts_.rows) * kRoughVectors);
  }
  rough_times(by_rows.sparse(slopes(by_rows, which)), by_rows.dealt(), reals(p.in), terms, parts, stream());
  if (!p.out) return true;
  RowTerms<Real> back;
  back.out = reals(p.out);
  rough_times(by_columns.sparse(slopes(by_columns, which)), by_columns.dealt(), rough_rows_.data(), back, parts,
              stream());
  return true;
}

void CudaStore::multiply(Slopes which, const NormalProduct& product) {
  if (product.in.use() == Use::exact) return multiply_normal<double>(which, product);
  if (product.rough && multiply_roughly(which, product)) return;
  multiply_normal<Real>(which, product);
}

void CudaStore::multiply_blocks(const Order& order, const Real* m, bool transposed, const Real* in, Index columns,
                                Real* out) {
  const auto width = static_cast<std::size_t>(columns);
  if (full()) {
    const auto outputs = static_cast<std::size_t>(transposed ? facts_.cols : facts_.rows);
    Real* parts = room(*device_, real_parts_, kBlockParts * outputs * width);
    block_times(order.full(m), transposed, in, columns, out, parts, stream());
  } else {
    Real* parts = room(*device_, real_parts_, static_cast<std::size_t>(order.pieces) * width);
    block_times(order.sparse(m), in, columns, out, parts, stream());
  }
}

EntrySums CudaStore::factor_gradient(const Product& at, double scale, double width, const Product& products) {
  const Index columns = at.left.columns();
  for (Order& order : orders_) {
    Real* x = room(*device_, order.trial_x, order.size);
    room(*device_, order.trial_slope, order.size);
    cuda::load(order.arrays(), reals(at.left), reals(at.right), columns, scale, x, stream());
  }
  const double* sums = sum(kLinearizeSums, [&](const Order& order, const Report* report) {
    EntryArrays there = order.arrays();
    there.x = order.trial_x.data();
    there.slope = order.trial_slope.data();
    cuda::linearize(function(), there, width, false, report, stream());
  });
  const EntrySums result{sums[0], sums[1], 0, sums[3], sums[4]};
  multiply_blocks(orders_.front(), orders_.front().trial_slope.data(), false, reals(at.right), columns,
                  reals(products.left));
  multiply_blocks(orders_.back(), orders_.back().trial_slope.data(), true, reals(at.left), columns,
                  reals(products.right));
  return result;
}

void CudaStore::multiply(Slopes which, const Product& in, const Product& out) {
  const Index columns = in.left.columns();
  multiply_blocks(orders_.front(), slopes(orders_.front(), which), false, reals(in.right), columns, reals(out.left));
  multiply_blocks(orders_.back(), slopes(orders_.back(), which), true, reals(in.left), columns, reals(out.right));
}

}  // namespace tracenorm::cuda
