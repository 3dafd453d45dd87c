#include "fit/sampling.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "model/shared_rows.hpp"

namespace tracenorm {

namespace {

Index padded(Index terms) { return (terms + kFactorStep - 1) / kFactorStep * kFactorStep; }

/// Rows [first, first + count) of a factor, one after another, its columns times `factors` (null: as they are) and
/// filled up with zeros.
template <class Factor>
void copy_rows(const Factor& factor, const std::vector<double>* factors, Index first, Index count, Real* out) {
  const auto terms = static_cast<Index>(factor.cols());
  const Index width = padded(terms);
  std::fill_n(out, static_cast<Offset>(count) * width, Real(0));
  for (Index t = 0; t < terms; ++t) {
    const double times = factors != nullptr ? (*factors)[static_cast<std::size_t>(t)] : 1.0;
    for (Index i = 0; i < count; ++i) out[static_cast<Offset>(i) * width + t] = Real(times * factor(first + i, t));
  }
}

template <class Factor>
std::vector<Real> all_rows(const Factor& factor, const std::vector<double>* factors, const Execution& execution) {
  constexpr Offset block = 1024;
  const auto width = static_cast<Offset>(padded(static_cast<Index>(factor.cols())));
  std::vector<Real> out(static_cast<std::size_t>(factor.rows() * width));
  execution.for_each_block(factor.rows(), block, [&](Offset first, Offset count) {
    copy_rows(factor, factors, static_cast<Index>(first), static_cast<Index>(count), out.data() + first * width);
  });
  return out;
}

}  // namespace

void sample(const LowRankMatrix& x, const std::vector<double>& values, const SparseObservations& data,
            const Execution& execution, std::vector<Real>& out) {
  const SparsePattern& pattern = data.pattern;
  const Index above = first_row(data);
  out.assign(static_cast<std::size_t>(pattern.entries()), Real(0));
  if (x.terms() == 0) return;
  constexpr Offset shards = 256;
  constexpr Index block = 64;
  const std::vector<Real> right = all_rows(x.right(), &values, execution);
  const Index width = padded(x.terms());
  const std::vector<Index> cuts = cut_rows_into(shards, pattern.rows(), pattern.entries(), pattern.begin());
  pattern.col().visit([&]<class Column>(const Column* col) {
    const auto dots = kernels::linear_kernels().sparse<Column>().factor_dots;
    execution.for_each_shard(static_cast<int>(cuts.size()) - 1, [&](int s) {
      const Index last = cuts[static_cast<std::size_t>(s) + 1];
      std::vector<Real> left(static_cast<std::size_t>(block) * static_cast<std::size_t>(width));
      for (Index first = cuts[static_cast<std::size_t>(s)]; first < last; first += block) {
        const Index count = std::min(block, last - first);
        copy_rows(x.left(), nullptr, above + first, count, left.data());
        for (Index i = 0; i < count; ++i) {
          const Offset begin = pattern.begin()[first + i];
          dots(col + begin, pattern.begin()[first + i + 1] - begin, left.data() + static_cast<Offset>(i) * width,
               right.data(), width, out.data() + begin);
        }
      }
    });
  });
}

void sample(const LowRankMatrix& x, std::span<const std::vector<double>> values, const Entries& places,
            const Execution& execution, std::span<std::vector<Real>> out) {
  for (std::vector<Real>& list : out) list.assign(places.row.size(), Real(0));
  if (x.terms() == 0) return;
  constexpr Offset block = 65536;
  const Index width = padded(x.terms());
  const std::vector<Real> left = all_rows(x.left(), nullptr, execution);
  const auto dots = kernels::linear_kernels().sparse<Index>().factor_dots;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::vector<Real> right = all_rows(x.right(), &values[k], execution);
    execution.for_each_block(places.size(), block, [&](Offset first, Offset count) {
      for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + count); ++e) {
        dots(&places.col[e], 1, left.data() + static_cast<Offset>(places.row[e]) * width, right.data(), width,
             &out[k][e]);
      }
    });
  }
}

}  // namespace tracenorm
