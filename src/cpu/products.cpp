// Products of a CPU store's slopes with panels.
#include <algorithm>
#include <bit>

#include "cpu/panels.hpp"
#include "cpu/passes.hpp"

namespace tracenorm::cpu {

namespace {

/// Outputs of products with factors are large: so many shards at once keep all threads busy.
int shards_at_once(int threads) {
  constexpr unsigned least = 8;
  return static_cast<int>(std::bit_ceil(std::max(least, 4 * static_cast<unsigned>(threads))));
}

}  // namespace

const Real* CpuStore::slopes(Slopes which) const {
  if (which == Slopes::current) return slope_.data();
  if (which == Slopes::average) return average_.data();
  return off_pattern() ? dual_rest_.data() : dual_of_->data();
}

void CpuStore::multiply(Slopes which, const Panel& in, const Panel& out) {
  const Real* m = slopes(which);
  const bool transposed = in.side() == Side::left;
  if (layout_->symmetric()) {
    for (Index k = 0; k < in.columns(); ++k) multiply_symmetric(m, doubles(in.column(k)), doubles(out.column(k)));
    return;
  }
  if (!transposed && in.columns() > 1) {  // a block that is looked up once for all columns
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const RowMajor block = columns(in);
    RowMajor product(facts_.rows, in.columns());
    for_each_shard([&](int s) { layout_->apply_block(shard_rows(s), m, block.data(), in.columns(), product.data()); });
    columns(out) = product;
    return;
  }
  for (Index k = 0; k < in.columns(); ++k) {
    const double* from = doubles(in.column(k));
    double* to = doubles(out.column(k));
    for_each_shard([&](int s) {
      if (!transposed) return layout_->apply(shard_rows(s), m, from, to);
      double* own = exact_outputs_.data() + static_cast<std::size_t>(s) * static_cast<std::size_t>(facts_.cols);
      std::fill_n(own, facts_.cols, 0.0);
      layout_->apply_transpose(shard_rows(s), m, from, own);
    });
    if (transposed) add_outputs(exact_outputs_, 1, to);
  }
}

void CpuStore::multiply_symmetric(const Real* m, const double* v, double* out) {
  for_each_shard([&](int s) {
    double* own = exact_outputs_.data() + static_cast<std::size_t>(s) * static_cast<std::size_t>(facts_.cols);
    std::fill_n(own, facts_.cols, 0.0);
    layout_->apply_symmetric(shard_rows(s), m, v, own);
  });
  add_outputs(exact_outputs_, 1, out);
}

void CpuStore::multiply_symmetric(const Real* m, const NormalProduct& product) {
  for_each_shard([&](int s) {
    Real* own = search_outputs_.data() + static_cast<std::size_t>(s) * static_cast<std::size_t>(facts_.cols);
    std::fill_n(own, facts_.cols, Real(0));
    layout_->apply_symmetric(shard_rows(s), m, reals(product.in), own);
  });
  add_outputs(search_outputs_, 1, reals(product.product));
  finish_rows(product);
}

void CpuStore::finish_rows(const NormalProduct& product) const {
  const kernels::RowTerms<Real> terms{reals(product.factor), reals(product.addend), reals(product.product)};
  if (!product.factor && !product.addend) return;
  for (Index i = 0; i < facts_.rows; ++i) terms.take(i, terms.product[i]);
}

void CpuStore::multiply(Slopes which, const NormalProduct& product) {
  const Real* m = slopes(which);
  if (layout_->symmetric()) return multiply_symmetric(m, product);
  const Index vectors = product.in.columns();
  const auto outputs = static_cast<std::size_t>(facts_.cols) * static_cast<std::size_t>(vectors);
  if (product.in.use() == Use::exact) {
    for_each_shard([&](int s) {
      double* own = exact_outputs_.data() + static_cast<std::size_t>(s) * outputs;
      std::fill_n(own, outputs, 0.0);
      layout_->normal(shard_rows(s), m, doubles(product.in),
                      {doubles(product.factor), doubles(product.addend), doubles(product.product)}, own);
    });
    if (product.out) add_outputs(exact_outputs_, 1, doubles(product.out));
    return;
  }
  for_each_shard([&](int s) {
    Real* own = search_outputs_.data() + static_cast<std::size_t>(s) * outputs;
    std::fill_n(own, outputs, Real(0));
    layout_->normal(shard_rows(s), m, reals(product.in), vectors,
                    {reals(product.factor), reals(product.addend), reals(product.product)}, own);
  });
  if (product.out) add_outputs(search_outputs_, vectors, reals(product.out));
}

template <class SlopesOf>
void CpuStore::factor_products(const Product& at, const Product& products, SlopesOf&& slopes_of) {
  const FactorRows factors{reals(at.left), reals(at.right), at.left.columns()};
  const Offset size = static_cast<Offset>(facts_.cols) * factors.columns;
  const int at_once = shards_at_once(execution_.threads());
  const auto outputs = static_cast<std::size_t>(factor_shards_->outputs(at_once)) * static_cast<std::size_t>(size);
  if (factor_outputs_.capacity() < outputs) RealArray().swap(factor_outputs_);  // not both, nor room to grow
  factor_outputs_.resize(outputs);
  const bool symmetric = layout_->symmetric();
  const auto work = [&](int s, Real* output) {
    const Index first = factor_shards_->begin(s);
    const Index last = factor_shards_->begin(s + 1);
    std::fill_n(output, size, Real(0));
    if (!symmetric) rows(products.left).middleRows(first, last - first).setZero();
    for (Offset from = layout_->row_begin(first); from < layout_->row_begin(last);) {
      const Offset to = std::min(layout_->row_begin(last), layout_->factor_block_end(from));
      const Real* m = slopes_of(s, from, to);
      if (symmetric) {  // M times the right factor alone, both triangles into one output
        layout_->factor_products(from, to, m, {factors.right, factors.right, factors.columns}, output, output);
      } else {
        layout_->factor_products(from, to, m, factors, reals(products.left), output);
      }
      from = to;
    }
  };
  Real* out = reals(symmetric ? products.left : products.right);
  factor_shards_->add_up_in_rounds(at_once, factor_outputs_.data(), size, out, execution_,
                                   static_cast<Offset>(kColumnBlock) * factors.columns,
                                   [&](int first, int last, Real* parts) {
                                     for_each_shard(last - first, [&](int k) { work(first + k, parts + k * size); });
                                   });
}

EntrySums CpuStore::factor_gradient(const Product& at, double scale, double width, const Product& products) {
  const FactorRows factors{reals(at.left), reals(at.right), at.left.columns()};
  if (aimed_at_ != Aim::matrix) RealArray().swap(target_);  // a descent over factors needs the memory
  const auto block = static_cast<std::size_t>(layout_->factor_block());
  factor_buffers_.resize(static_cast<std::size_t>(factor_shards_->count()));
  for (FactorBuffers& own : factor_buffers_) {
    own.x.resize(block);
    own.slope.resize(block);
    own.sums = {};
  }
  visit_loss([&](const auto& loss, const auto& table) {
    const bool coded = coded_.code != nullptr && table.linearize_coded != nullptr;
    const auto kernel = coded ? table.linearize_coded : table.linearize;
    factor_products(at, products, [&](int s, Offset from, Offset to) {
      FactorBuffers& own = factor_buffers_[static_cast<std::size_t>(s)];
      layout_->factor_entries(from, to, factors, Real(scale), own.x.data());
      kernels::EntryRange r = range(from, to, own.x.data(), own.slope.data());
      if (!coded) decode(r, own.decoded);
      shift(r, from, width, own.places);
      EntrySums part = kernel(loss, r, width);
      if (factor_shards_->begin(s) >= layout_->doubled_from()) part.twice();
      own.sums += part;
      return own.slope.data();
    });
  });
  factor_parts_.clear();
  for (const FactorBuffers& own : factor_buffers_) factor_parts_.push_back(own.sums);
  return factor_shards_->add_up(factor_parts_);
}

void CpuStore::multiply(Slopes which, const Product& in, const Product& out) {
  const Real* m = slopes(which);
  factor_products(in, out, [&](int, Offset from, Offset) { return m + from; });
}

}  // namespace tracenorm::cpu
