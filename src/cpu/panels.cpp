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

/// a' b for panels in Real of any width, in blocks of rows, each with a part of the sum.
void descent_gram(const Panel& a, const Panel& b, const Execution& execution, std::vector<Real>& parts,
                  Eigen::Ref<Eigen::MatrixXd> out) {
  const bool vectors = is_vector(a) && is_vector(b);
  const Offset block = vectors ? kVectorBlock : kRowBlock;
  const auto size = static_cast<std::size_t>(a.columns()) * static_cast<std::size_t>(b.columns());
  parts.resize(size * static_cast<std::size_t>((a.rows() + block - 1) / block));
  execution.for_each_block(a.rows(), block, [&](Offset first, Offset count) {
    Real* part = parts.data() + size * static_cast<std::size_t>(first / block);
    if (vectors) {
      *part = vector(a).segment(first, count).dot(vector(b).segment(first, count));
    } else {
      lapack::gemm_rows(lapack::Shape::transposed, lapack::Shape::plain, a.columns(), b.columns(),
                        static_cast<Index>(count), 1, rows(a).data() + first * a.pitch(), a.pitch(),
                        rows(b).data() + first * b.pitch(), b.pitch(), 0, part, b.columns());
    }
  });
  for (auto part = parts.begin(); part != parts.end(); part += static_cast<std::ptrdiff_t>(size)) {
    out += Eigen::Map<const RowMatrix>(&*part, a.columns(), b.columns()).cast<double>();
  }
}

}  // namespace

CpuPanels::CpuPanels(Index rows, Index cols, std::vector<Index> column_order, const Execution& execution)
    : rows_(rows), cols_(cols), column_order_(std::move(column_order)), execution_(execution) {}

Panel CpuPanels::make(Side side, Use use, Index columns) {
  const Index rows = side == Side::left ? rows_ : cols_;
  const auto size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  // Not touched before it is used: calloc's zeros are the kernel's.
  const std::shared_ptr<void> memory(
      std::calloc(std::max<std::size_t>(size, 1), use == Use::exact ? sizeof(double) : sizeof(Real)), std::free);
  if (memory == nullptr) throw std::bad_alloc();
  return {side, use, rows, columns, memory.get(), memory};
}

template <class Work>
void CpuPanels::for_places(const Panel& panel, Work&& work) const {
  const bool ordered = panel.side() == Side::right && panel.use() == Use::search && !column_order_.empty();
  for (Index r = 0; r < static_cast<Index>(panel.rows()); ++r) {
    work(r, ordered ? column_order_[static_cast<std::size_t>(r)] : r);
  }
}

void CpuPanels::upload(const Eigen::MatrixXd& from, const Panel& to) {
  if (to.use() == Use::exact) {
    columns(to) = from;
    return;
  }
  Rows out = rows(to);
  for_places(to, [&](Index place, Index r) { out.row(place) = from.row(r).cast<Real>(); });
}

Eigen::MatrixXd CpuPanels::download(const Panel& from) {
  if (from.use() == Use::exact) return columns(from);
  const Rows in = rows(from);
  Eigen::MatrixXd out(from.rows(), from.columns());
  for_places(from, [&](Index place, Index r) { out.row(r) = in.row(place).cast<double>(); });
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

void CpuPanels::gram(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out) {
  Eigen::Index row = 0;
  for (const Panel& one : a) {
    auto part = out.middleRows(row, one.columns());
    row += one.columns();
    if (one.use() == Use::exact) {
      if (one.columns() == 1 && b.columns() == 1) {
        part(0, 0) = columns(one).col(0).dot(columns(b).col(0));
      } else if (b.columns() == 1) {
        part.col(0).noalias() = columns(one).transpose() * columns(b).col(0);
      } else {
        part.noalias() = columns(one).transpose() * columns(b);
      }
      continue;
    }
    part.setZero();
    if (one.use() == Use::search) {
      with_columns(one.columns(),
                   [&](auto columns) { add_search_gram<columns()>(reals(one), reals(b), b.rows(), part); });
    } else {
      descent_gram(one, b, execution_, parts_, part);
    }
  }
}

void CpuPanels::combine_exact(double keep, PanelList in, const SmallMatrix& small, const Panel& out) {
  Columns to = columns(out);
  Eigen::Index row = 0;
  for (const Panel& one : in) {
    const auto weights = small.middleRows(row, one.columns());
    const Columns from = columns(one);
    if (one.columns() == 1 && out.columns() == 1) {
      const double factor = weights(0, 0);
      if (keep == 0) {
        to = factor * from;
      } else {
        to = keep * to + factor * from;
      }
    } else if (is_diagonal(weights)) {
      for (Index k = 0; k < out.columns(); ++k) {
        if (keep == 0) {
          to.col(k) = weights(k, k) * from.col(k);
        } else {
          to.col(k) = keep * to.col(k) + weights(k, k) * from.col(k);
        }
      }
    } else if (from.data() == to.data()) {
      const Eigen::MatrixXd copy = from;
      const Eigen::MatrixXd product = lapack::product(copy, weights);
      to = keep == 0 ? product : Eigen::MatrixXd(keep * to + product);
    } else if (out.columns() == 1) {
      if (keep == 0) {
        to.col(0).noalias() = from * weights.col(0);
      } else {
        if (keep != 1) to *= keep;
        to.col(0).noalias() += from * weights.col(0);
      }
    } else if (one.columns() == 0) {
      to *= keep;
    } else {
      const Eigen::MatrixXd dense = weights;
      lapack::gemm(lapack::Shape::plain, lapack::Shape::plain, static_cast<Index>(out.rows()), out.columns(),
                   one.columns(), 1.0, from.data(), static_cast<Index>(one.rows()), dense.data(), one.columns(), keep,
                   to.data(), static_cast<Index>(out.rows()));
    }
    keep = 1;
    row += one.columns();
  }
}

void CpuPanels::combine_search(double keep, PanelList in, const SmallMatrix& small, const Panel& out) {
  with_columns(out.columns(), [&](auto columns) {
    Eigen::Index row = 0;
    for (const Panel& one : in) {
      Real weight[columns()][columns()];
      for (int i = 0; i < columns(); ++i) {
        for (int k = 0; k < columns(); ++k) weight[i][k] = Real(small(row + i, k));
      }
      if (keep == 0) {
        add_search_block<columns(), false>(0, reals(one), weight, out.rows(), reals(out));
      } else {
        add_search_block<columns(), true>(Real(keep), reals(one), weight, out.rows(), reals(out));
      }
      keep = 1;
      row += columns();
    }
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
    const auto from = rows(in).col(0);
    auto to = rows(out).col(0);
    if (keep == 0) {
      to = factor * from;
    } else {
      to = Real(keep) * to + factor * from;
    }
    return;
  }
  const bool diagonal = is_diagonal(small);
  const bool in_place = in.data() == out.data();
  if (diagonal) {
    factors_ = small.diagonal().transpose().cast<Real>().array();
  } else {
    weights_ = small.cast<Real>();
  }
  execution_.for_each_block(out.rows(), kRowBlock, [&](Offset first, Offset count) {
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
  if (to_exact && out.columns() == 1) {  // what a search makes its answer of
    for_places(in, [&](Index place, Index r) {
      const Real* from = real.data() + static_cast<Offset>(place) * in.pitch();
      double sum = keep == 0 ? 0.0 : keep * exact.data()[r];
      for (Index i = 0; i < in.columns(); ++i) sum += small(i, 0) * double(from[i]);
      exact.data()[r] = sum;
    });
    return;
  }
  const bool diagonal = is_diagonal(small);
  const Eigen::MatrixXd turned = diagonal ? Eigen::MatrixXd() : lapack::product(download(in), small);
  for_places(to_exact ? in : out, [&](Index place, Index r) {
    for (Index k = 0; k < out.columns(); ++k) {
      double sum = 0;
      if (keep != 0) sum = keep * (to_exact ? exact(r, k) : double(real(place, k)));
      if (diagonal) {
        sum += small(k, k) * (to_exact ? double(real(place, k)) : exact(r, k));
      } else {
        sum += turned(r, k);
      }
      if (to_exact) {
        exact(r, k) = sum;
      } else {
        rows(out)(place, k) = Real(sum);
      }
    }
  });
}

void CpuPanels::combine(double keep, PanelList in, const SmallMatrix& small, const Panel& out) {
  const Use use = in.front().use();
  if (use == out.use() && use == Use::exact) return combine_exact(keep, in, small, out);
  if (use == out.use() && use == Use::search) return combine_search(keep, in, small, out);
  Eigen::Index row = 0;
  for (const Panel& one : in) {
    const auto weights = small.middleRows(row, one.columns());
    if (use == out.use()) {
      combine_descent(keep, one, weights, out);
    } else {
      combine_mixed(keep, one, weights, out);
    }
    keep = 1;
    row += one.columns();
  }
}

void CpuPanels::scale_rows(const Panel& panel, const Panel& factors) {
  if (panel.use() == Use::exact) {
    columns(panel).array().colwise() *= columns(factors).col(0).array();
  } else {
    rows(panel).array().colwise() *= rows(factors).col(0).array();
  }
}

bool CpuPanels::decompose(Panel& left, Eigen::VectorXd& values, Panel& right) {
  if (!values.allFinite() || !columns(left).allFinite() || !columns(right).allFinite()) return false;
  lapack::Svd svd{columns(left), values, columns(right)};
  lapack::decompose_product(svd, execution_);
  values = svd.values;
  const auto terms = static_cast<Index>(values.size());
  left = left.middle(0, terms);
  right = right.middle(0, terms);
  columns(left) = svd.left;
  columns(right) = svd.right;
  return true;
}

}  // namespace tracenorm::cpu
