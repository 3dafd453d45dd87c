#include "cpu/panels.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace tracenorm::cpu {

namespace {

/// Sums in Real stay this short before they are added in double.
constexpr Offset kSearchBlock = 256;

/// So many multiply-adds are worth waking a thread for. Rows are cut into blocks of them by sizes alone, and sums over
/// blocks are added in their order: the same bits on any number of threads.
constexpr Offset kWorthAThread = 32768;
constexpr Offset kLeastRows = 512;
Offset row_block(Offset work_per_row) {
  return std::max(kLeastRows, kWorthAThread / std::max<Offset>(work_per_row, 1) / kLeastRows * kLeastRows);
}
/// Inner products that a block of rows keeps.
constexpr Index kMostOfABlock = 16384;
/// And so many all of them together; beyond, blocks of a shard are added up one after another.
constexpr Offset kMostParts = Offset{1} << 21U;
constexpr Offset kVectorBlock = 4096;
constexpr Offset kRowBlock = 1024;

/// The widths that a search has: known to the compiler, so that a row of a block is one register.
constexpr Index kBlockColumns = 4;
template <class Work>
decltype(auto) with_columns(Index columns, Work&& work) {
  return columns == 1 ? work(std::integral_constant<int, 1>{}) : work(std::integral_constant<int, kBlockColumns>{});
}

/// a' b for blocks of a search.
template <int columns>
void add_search_gram(const Real* x, const Real* y, Offset rows, Eigen::Ref<Eigen::MatrixXd> out) {
  for (Offset from = 0; from < rows; from += kSearchBlock) {
    Real part[columns][columns] = {};
    const Offset to = std::min(rows, from + kSearchBlock);
    for (Offset r = from; r < to; ++r, x += columns, y += columns) {
      for (int i = 0; i < columns; ++i) {
        for (int k = 0; k < columns; ++k) part[i][k] += x[i] * y[k];
      }
    }
    for (int i = 0; i < columns; ++i) {
      for (int k = 0; k < columns; ++k) out(i, k) += double(part[i][k]);
    }
  }
}

/// y <- keep y + x weight, row by row. x may be y.
template <int columns, bool keeps>
void add_search_block(Real keep, const Real* x, const Real (&weight)[columns][columns], Offset rows, Real* y) {
  for (Offset r = 0; r < rows; ++r, x += columns, y += columns) {
    Real sum[columns];
    for (int k = 0; k < columns; ++k) sum[k] = keeps ? keep * y[k] : Real(0);
    for (int i = 0; i < columns; ++i) {
      for (int k = 0; k < columns; ++k) sum[k] += x[i] * weight[i][k];
    }
    for (int k = 0; k < columns; ++k) y[k] = sum[k];
  }
}

/// A whole panel of one column in Real.
using Vector = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
bool is_vector(const Panel& panel) { return panel.pitch() == 1; }
Vector vector(const Panel& panel) { return {reals(panel), panel.rows()}; }

bool same_numbers(const Panel& a, const Panel& b) {
  return a.data() == b.data() && a.first() == b.first() && a.columns() == b.columns();
}

/// At least so many numbers, and so many more that bases which grow seldom ask again: few bases become large.
template <class Number>
void make_room(std::vector<Number>& numbers, Offset count) {
  constexpr Offset least = 512;
  constexpr Offset large = Offset{1} << 18U;
  if (static_cast<Offset>(numbers.size()) >= count) return;
  const Offset room = count < large ? std::max(least, 2 * count) : count;
  if (static_cast<Offset>(numbers.capacity()) < room) std::vector<Number>().swap(numbers);  // not both
  numbers.resize(static_cast<std::size_t>(room));
}

/// a' b over some of their rows, for exact panels and for those of searches.
void gram_of_rows(PanelList a, const Panel& b, Offset first, Offset count, Eigen::Ref<Eigen::MatrixXd> out) {
  Eigen::Index row = 0;
  for (const Panel& one : a) {
    auto part = out.middleRows(row, one.columns());
    row += one.columns();
    if (b.use() == Use::search) {
      part.setZero();
      with_columns(one.columns(), [&](auto columns) {
        add_search_gram<columns()>(reals(one) + first * columns(), reals(b) + first * columns(), count, part);
      });
      continue;
    }
    const auto x = columns(one).middleRows(first, count);
    const auto y = columns(b).middleRows(first, count);
    constexpr Index kWide = 8;
    if (one.columns() >= kWide && b.columns() >= kWide) {
      lapack::gemm(lapack::Shape::transposed, lapack::Shape::plain, one.columns(), b.columns(),
                   static_cast<Index>(count), 1, x.data(), static_cast<Index>(one.rows()), y.data(),
                   static_cast<Index>(b.rows()), 0, part.data(), static_cast<Index>(part.outerStride()));
    } else if (one.columns() == 1 && b.columns() == 1) {
      part(0, 0) = x.col(0).dot(y.col(0));
    } else if (b.columns() == 1) {
      part.col(0).noalias() = x.transpose() * y.col(0);
    } else {
      part.noalias() = x.transpose() * y;
    }
  }
}

}  // namespace

CpuPanels::CpuPanels(Index cols, std::vector<Index> column_order, Shards shards, const Execution& execution)
    : cols_(cols), column_order_(std::move(column_order)), shards_(std::move(shards)), execution_(execution) {}

Panel CpuPanels::make(Side side, Use use, Index columns) {
  const Index rows = side == Side::left ? shards_.rows() : cols_;
  const auto size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  // Not touched before it is used: calloc's zeros are the kernel's.
  const std::shared_ptr<void> memory(
      std::calloc(std::max<std::size_t>(size, 1), use == Use::exact ? sizeof(double) : sizeof(Real)), std::free);
  if (memory == nullptr) throw std::bad_alloc();
  return {side, use, rows, columns, memory.get(), memory};
}

template <class Work>
void CpuPanels::for_places(const Panel& panel, Offset first, Offset count, Work&& work) const {
  const bool ordered = panel.side() == Side::right && panel.use() == Use::search && !column_order_.empty();
  for (auto place = static_cast<Index>(first); place < static_cast<Index>(first + count); ++place) {
    work(place, ordered ? column_order_[static_cast<std::size_t>(place)] : place);
  }
}

void CpuPanels::upload(const Eigen::MatrixXd& from, const Panel& to) {
  execution_.for_each_block(to.rows(), row_block(to.columns()), [&](Offset first, Offset count) {
    if (to.use() == Use::exact) {
      columns(to).middleRows(first, count) = from.middleRows(first, count);
    } else {
      Rows out = rows(to);
      for_places(to, first, count, [&](Index place, Index r) { out.row(place) = from.row(r).cast<Real>(); });
    }
  });
}

Eigen::MatrixXd CpuPanels::download(const Panel& from) {
  Eigen::MatrixXd out(from.rows(), from.columns());
  execution_.for_each_block(from.rows(), row_block(from.columns()), [&](Offset first, Offset count) {
    if (from.use() == Use::exact) {
      out.middleRows(first, count) = columns(from).middleRows(first, count);
    } else {
      const Rows in = rows(from);
      for_places(from, first, count, [&](Index place, Index r) { out.row(r) = in.row(place).cast<double>(); });
    }
  });
  return out;
}

void CpuPanels::draw(double size, Random& random, const Panel& panel) {
  if (panel.use() == Use::exact) {
    for (double& x : columns(panel).reshaped()) x += size * random.normal();
    return;
  }
  const bool search = panel.use() == Use::search;
  Rows numbers = rows(panel);
  for (Index k = 0; k < panel.columns(); ++k) {
    for (Offset r = 0; r < panel.rows(); ++r) {
      numbers(r, k) += Real(size) * Real(search ? random.spread() : random.normal());
    }
  }
}

template <class Work>
void CpuPanels::for_blocks(const Panel& panel, Offset block, Work&& work) {
  if (panel.side() == Side::right) {
    block_begin_.assign({0, static_cast<int>((panel.rows() + block - 1) / block)});
    return execution_.for_each_block(panel.rows(), block,
                                     [&](Offset first, Offset count) { work(first / block, first, count); });
  }
  const Offset stretch = shards_.rows() == 0 ? 1 : panel.rows() / shards_.rows();  // of a flat panel
  const auto begin = [&](std::size_t shard) { return stretch * shards_.begin(static_cast<int>(shard)); };
  const auto shards = static_cast<std::size_t>(shards_.count());
  block_begin_.assign(shards + 1, 0);
  for (std::size_t s = 0; s < shards; ++s) {
    block_begin_[s + 1] = block_begin_[s] + static_cast<int>((begin(s + 1) - begin(s) + block - 1) / block);
  }
  const auto run = [&](int b) {
    const auto s = static_cast<std::size_t>(std::upper_bound(block_begin_.begin(), block_begin_.end(), b) -
                                            block_begin_.begin() - 1);
    const Offset first = begin(s) + (b - block_begin_[s]) * block;
    work(Offset{b}, first, std::min(block, begin(s + 1) - first));
  };
  if (panel.rows() > block) return execution_.for_each_shard(block_begin_.back(), run);
  for (int b = 0; b < block_begin_.back(); ++b) run(b);
}

template <class Number, class Work>
void CpuPanels::sum_over_blocks(const Panel& panel, Offset block, std::vector<Number>& parts,
                                Eigen::Ref<Eigen::MatrixXd> out, Work&& work) {
  const Eigen::Index size = out.size();
  const Offset all_blocks = panel.rows() / block + shards_.count() + 1;
  if (panel.side() == Side::left && all_blocks * size > kMostParts) {
    return sum_within_shards(panel, block, parts, out, work);
  }
  make_room(parts, all_blocks * size);
  for_blocks(panel, block,
             [&](Offset index, Offset first, Offset count) { work(first, count, parts.data() + index * size); });
  if (panel.side() == Side::right && block_begin_.back() == 1) {
    const Eigen::Map<const Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>> only(parts.data(), out.rows(),
                                                                                       out.cols());
    out = only.template cast<double>();
    return;
  }
  const auto shards = block_begin_.size() - 1;  // a right panel is like one of them
  make_room(shard_parts_, (shards_.count() + 1) * size);
  std::fill_n(shard_parts_.begin(), std::max<Eigen::Index>(static_cast<Eigen::Index>(shards), 1) * size, 0.0);
  for (std::size_t s = 0; s < shards; ++s) {
    Eigen::Map<Eigen::VectorXd> sum(shard_parts_.data() + static_cast<Eigen::Index>(s) * size, size);
    for (int b = block_begin_[s]; b < block_begin_[s + 1]; ++b) {
      sum += Eigen::Map<const Eigen::Matrix<Number, Eigen::Dynamic, 1>>(parts.data() + b * size, size)
                 .template cast<double>();
    }
  }
  if (panel.side() == Side::left) shards_.add_up(shard_parts_.data(), size, shard_parts_.data());
  out = Eigen::Map<const Eigen::MatrixXd>(shard_parts_.data(), out.rows(), out.cols());
}

template <class Number, class Work>
void CpuPanels::sum_within_shards(const Panel& panel, Offset block, std::vector<Number>& parts,
                                  Eigen::Ref<Eigen::MatrixXd> out, Work&& work) {
  const Eigen::Index size = out.size();
  const int shards = shards_.count();
  const Offset stretch = shards_.rows() == 0 ? 1 : panel.rows() / shards_.rows();  // of a flat panel
  make_room(parts, shards * size);
  make_room(shard_parts_, (shards + 1) * size);
  execution_.for_each_shard(shards, [&](int s) {
    Number* part = parts.data() + s * size;
    Eigen::Map<Eigen::VectorXd> sum(shard_parts_.data() + s * size, size);
    sum.setZero();
    const Offset last = stretch * shards_.begin(s + 1);
    for (Offset first = stretch * shards_.begin(s); first < last; first += block) {
      work(first, std::min(block, last - first), part);
      sum += Eigen::Map<const Eigen::Matrix<Number, Eigen::Dynamic, 1>>(part, size).template cast<double>();
    }
  });
  if (shards == 0) std::fill_n(shard_parts_.begin(), size, 0.0);
  shards_.add_up(shard_parts_.data(), size, shard_parts_.data());
  out = Eigen::Map<const Eigen::MatrixXd>(shard_parts_.data(), out.rows(), out.cols());
}

void CpuPanels::gram(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out) {
  if (a.empty()) return;
  const Index at_once = std::max<Index>(1, kMostOfABlock / static_cast<Index>(out.rows()));
  if (b.columns() > at_once) {
    const bool symmetric = a.size() == 1 && same_numbers(a.front(), b);
    for (Index k = 0; k < b.columns(); k += at_once) {
      const Index count = std::min(at_once, b.columns() - k);
      if (symmetric) {
        const Index rest = b.columns() - k;
        Panels::gram(b.middle(k, rest), b.middle(k, count), out.block(k, k, rest, count));
        out.block(k, k + count, count, rest - count) = out.block(k + count, k, rest - count, count).transpose();
      } else {
        gram(a, b.middle(k, count), out.middleCols(k, count));
      }
    }
    return;
  }
  if (b.use() == Use::descent) return gram_of_descent(a, b, out);
  sum_over_blocks(b, row_block(out.size()), exact_parts_, out, [&](Offset first, Offset count, double* part) {
    gram_of_rows(a, b, first, count, Eigen::Map<Eigen::MatrixXd>(part, out.rows(), out.cols()));
  });
}

void CpuPanels::gram_of_descent(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out) {
  const bool vectors = is_vector(a.front()) && is_vector(b);
  sum_over_blocks(b, vectors ? kVectorBlock : kRowBlock, parts_, out, [&](Offset first, Offset count, Real* part) {
    Real* of_one = part;  // columns of `out`, one beside the other
    for (const Panel& one : a) {
      if (vectors) {
        *of_one++ = vector(one).segment(first, count).dot(vector(b).segment(first, count));
        continue;
      }
      // Row-major, it is the transpose: b' a.
      lapack::gemm_rows(lapack::Shape::transposed, lapack::Shape::plain, b.columns(), one.columns(),
                        static_cast<Index>(count), 1, rows(b).data() + first * b.pitch(), b.pitch(),
                        rows(one).data() + first * one.pitch(), one.pitch(), 0, of_one, static_cast<Index>(out.rows()));
      of_one += one.columns();
    }
  });
}

void CpuPanels::combine_exact(double keep, const Panel& in, const SmallMatrix& small, const Panel& out) {
  const bool diagonal = is_diagonal(small);
  const bool in_place = in.data() == out.data();
  const Offset ld = out.rows();
  if (!diagonal && !in_place && out.columns() > 1) exact_weights_ = small;
  for_blocks(out, row_block(in.columns() * out.columns()), [&](Offset, Offset first, Offset count) {
    const auto from = columns(in).middleRows(first, count);
    auto to = columns(out).middleRows(first, count);
    if (in.columns() == 1 && out.columns() == 1) {
      const double factor = small(0, 0);
      if (keep == 0) {
        to.col(0) = factor * from.col(0);
      } else {
        to.col(0) = keep * to.col(0) + factor * from.col(0);
      }
    } else if (diagonal) {
      for (Index k = 0; k < out.columns(); ++k) {
        if (keep == 0) {
          to.col(k) = small(k, k) * from.col(k);
        } else {
          to.col(k) = keep * to.col(k) + small(k, k) * from.col(k);
        }
      }
    } else if (in_place) {
      const Eigen::MatrixXd product = lapack::product(Eigen::MatrixXd(from), small);
      to = keep == 0 ? product : Eigen::MatrixXd(keep * to + product);
    } else if (out.columns() == 1) {
      if (keep == 0) {
        to.col(0).noalias() = from * small.col(0);
      } else {
        if (keep != 1) to *= keep;
        to.col(0).noalias() += from * small.col(0);
      }
    } else if (in.columns() == 0) {
      to *= keep;
    } else {
      lapack::gemm(lapack::Shape::plain, lapack::Shape::plain, static_cast<Index>(count), out.columns(), in.columns(),
                   1.0, from.data(), static_cast<Index>(ld), exact_weights_.data(), in.columns(), keep, to.data(),
                   static_cast<Index>(ld));
    }
  });
}

void CpuPanels::combine_search(double keep, PanelList in, const SmallMatrix& small, const Panel& out) {
  with_columns(out.columns(), [&](auto columns) {
    const Offset work = static_cast<Offset>(in.size()) * columns() * columns();
    execution_.for_each_block(out.rows(), row_block(work), [&](Offset first, Offset count) {
      double kept = keep;
      Eigen::Index row = 0;
      for (const Panel& one : in) {
        Real weight[columns()][columns()];
        for (int i = 0; i < columns(); ++i) {
          for (int k = 0; k < columns(); ++k) weight[i][k] = Real(small(row + i, k));
        }
        const Real* from = reals(one) + first * columns();
        Real* to = reals(out) + first * columns();
        if (kept == 0) {
          add_search_block<columns(), false>(0, from, weight, count, to);
        } else {
          add_search_block<columns(), true>(Real(kept), from, weight, count, to);
        }
        kept = 1;
        row += columns();
      }
    });
  });
}

void CpuPanels::combine_descent(double keep, const Panel& in, const SmallMatrix& small, const Panel& out) {
  if (is_vector(in) && is_vector(out)) {
    const Real factor = Real(small(0, 0));
    execution_.for_each_block(out.rows(), kVectorBlock, [&](Offset first, Offset count) {
      const auto from = vector(in).segment(first, count);
      auto to = vector(out).segment(first, count);
      if (keep == 0) {
        to = factor * from;
      } else {
        to = Real(keep) * to + factor * from;
      }
    });
    return;
  }
  if (out.columns() == 1 && in.columns() == 1) {  // a column of a wider panel
    const Real factor = Real(small(0, 0));
    execution_.for_each_block(out.rows(), kRowBlock, [&](Offset first, Offset count) {
      const auto from = rows(in).col(0).segment(first, count);
      auto to = rows(out).col(0).segment(first, count);
      if (keep == 0) {
        to = factor * from;
      } else {
        to = Real(keep) * to + factor * from;
      }
    });
    return;
  }
  const bool diagonal = is_diagonal(small);
  const bool in_place = in.data() == out.data();
  if (diagonal) {
    factors_ = small.diagonal().transpose().cast<Real>().array();
  } else {
    weights_ = small.cast<Real>();
  }
  for_blocks(out, kRowBlock, [&](Offset, Offset first, Offset count) {
    const auto from = rows(in).middleRows(first, count);
    auto to = rows(out).middleRows(first, count);
    if (diagonal && keep == 0) {
      to.array() = from.array().rowwise() * factors_;
    } else if (diagonal) {
      to.array() = Real(keep) * to.array() + from.array().rowwise() * factors_;
    } else {
      const RowMatrix copy = in_place ? RowMatrix(from) : RowMatrix();
      lapack::gemm_rows(lapack::Shape::plain, lapack::Shape::plain, static_cast<Index>(count), out.columns(),
                        in.columns(), 1, in_place ? copy.data() : from.data(), in_place ? in.columns() : in.pitch(),
                        weights_.data(), out.columns(), Real(keep), to.data(), out.pitch());
    }
  });
}

void CpuPanels::combine_mixed(double keep, const Panel& in, const SmallMatrix& small, const Panel& out) {
  // One of them is exact, the other in Real: rows meet by what they mean.
  const bool to_exact = out.use() == Use::exact;
  const Rows real = rows(to_exact ? in : out);
  Columns exact = columns(to_exact ? out : in);
  const bool diagonal = is_diagonal(small);
  const Panel& ordered = to_exact ? in : out;
  for_blocks(out, row_block(in.columns() * out.columns()), [&](Offset, Offset first, Offset count) {
    if (to_exact && out.columns() == 1) {  // what a search makes its answer of
      for_places(ordered, first, count, [&](Index place, Index r) {
        const Real* from = real.data() + static_cast<Offset>(place) * in.pitch();
        double sum = keep == 0 ? 0.0 : keep * exact.data()[r];
        for (Index i = 0; i < in.columns(); ++i) sum += small(i, 0) * double(from[i]);
        exact.data()[r] = sum;
      });
      return;
    }
    Eigen::MatrixXd turned;
    if (!diagonal) {
      Eigen::MatrixXd given(count, in.columns());
      for_places(ordered, first, count, [&](Index place, Index r) {
        if (to_exact) {
          given.row(place - first) = real.row(place).cast<double>();
        } else {
          given.row(place - first) = exact.row(r);
        }
      });
      turned = lapack::product(given, small);
    }
    for_places(ordered, first, count, [&](Index place, Index r) {
      for (Index k = 0; k < out.columns(); ++k) {
        double sum = 0;
        if (keep != 0) sum = keep * (to_exact ? exact(r, k) : double(real(place, k)));
        if (diagonal) {
          sum += small(k, k) * (to_exact ? double(real(place, k)) : exact(r, k));
        } else {
          sum += turned(place - first, k);
        }
        if (to_exact) {
          exact(r, k) = sum;
        } else {
          rows(out)(place, k) = Real(sum);
        }
      }
    });
  });
}

void CpuPanels::combine(double keep, PanelList in, const SmallMatrix& small, const Panel& out) {
  const Use use = in.front().use();
  if (use == out.use() && use == Use::search) return combine_search(keep, in, small, out);
  Eigen::Index row = 0;
  for (const Panel& one : in) {
    const auto weights = small.middleRows(row, one.columns());
    if (use != out.use()) {
      combine_mixed(keep, one, weights, out);
    } else if (use == Use::exact) {
      combine_exact(keep, one, weights, out);
    } else {
      combine_descent(keep, one, weights, out);
    }
    keep = 1;
    row += one.columns();
  }
}

void CpuPanels::scale_rows(const Panel& panel, const Panel& factors) {
  execution_.for_each_block(panel.rows(), row_block(panel.columns()), [&](Offset first, Offset count) {
    if (panel.use() == Use::exact) {
      columns(panel).middleRows(first, count).array().colwise() *=
          columns(factors).col(0).segment(first, count).array();
    } else {
      rows(panel).middleRows(first, count).array().colwise() *= rows(factors).col(0).segment(first, count).array();
    }
  });
}

std::span<std::byte> CpuPanels::in_host_memory(const Panel& panel) {
  const auto count = static_cast<std::size_t>(panel.rows()) * static_cast<std::size_t>(panel.columns());
  if (panel.use() == Use::exact) return std::as_writable_bytes(std::span(columns(panel).data(), count));
  if (panel.columns() != panel.pitch()) return {};
  return std::as_writable_bytes(std::span(reals(panel), count));
}

bool CpuPanels::decompose(Panel& left, Eigen::VectorXd& values, Panel& right) {
  if (!values.allFinite() || !columns(left).allFinite() || !columns(right).allFinite()) return false;
  lapack::Svd svd{columns(left), values, columns(right)};
  lapack::decompose_product(svd, {lapack::tall_blocks(shards_.cuts(), left.columns())}, execution_);
  values = svd.values;
  const auto terms = static_cast<Index>(values.size());
  left = left.middle(0, terms);
  right = right.middle(0, terms);
  columns(left) = svd.left;
  columns(right) = svd.right;
  return true;
}

}  // namespace tracenorm::cpu
