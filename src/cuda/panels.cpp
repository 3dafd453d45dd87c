#include "cuda/panels.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace tracenorm::cuda {

namespace {

using RowMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using SmallRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A Gram matrix is made of at most this many tiles at a time.
constexpr Index kMostTiles = 4096;

ViewList views(PanelList panels) {
  ViewList list{};
  for (const Panel& panel : panels) {
    assert(panel.use() == panels.front().use() && panel.columns() == panels.front().columns());
    list.view[list.count++] = view(panel);
  }
  return list;
}

}  // namespace

View view(const Panel& panel) {
  if (panel.use() == Use::exact) return {doubles(panel), panel.rows(), panel.columns(), 1, panel.rows(), true};
  return {reals(panel) + panel.first(), panel.rows(), panel.columns(), panel.pitch(), 1, false};
}

Panel CudaPanels::make(Side side, Use use, Index columns) {
  const Index rows = side == Side::left ? rows_ : cols_;
  const auto size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  const std::shared_ptr<void> memory = device_->allocate(size * (use == Use::exact ? sizeof(double) : sizeof(Real)));
  return {side, use, rows, columns, memory.get(), memory};
}

void CudaPanels::upload(const Eigen::MatrixXd& from, const Panel& to) {
  if (from.size() == 0) return;
  if (to.use() == Use::exact) {
    return device_->upload(from.data(), static_cast<std::size_t>(from.size()) * sizeof(double), doubles(to));
  }
  const RowMatrix rows = from.cast<Real>();
  const std::size_t width = static_cast<std::size_t>(to.columns()) * sizeof(Real);
  check(cudaMemcpy2DAsync(view(to).data, static_cast<std::size_t>(to.pitch()) * sizeof(Real), rows.data(), width, width,
                          static_cast<std::size_t>(to.rows()), cudaMemcpyHostToDevice, device_->stream()),
        "receiving vectors");
  device_->finish();
}

Eigen::MatrixXd CudaPanels::download(const Panel& from) {
  Eigen::MatrixXd out(from.rows(), from.columns());
  if (out.size() == 0) return out;
  if (from.use() == Use::exact) {
    device_->download(doubles(from), static_cast<std::size_t>(out.size()) * sizeof(double), out.data());
    return out;
  }
  RowMatrix rows(from.rows(), from.columns());
  const std::size_t width = static_cast<std::size_t>(from.columns()) * sizeof(Real);
  check(cudaMemcpy2DAsync(rows.data(), width, view(from).data, static_cast<std::size_t>(from.pitch()) * sizeof(Real),
                          width, static_cast<std::size_t>(from.rows()), cudaMemcpyDeviceToHost, device_->stream()),
        "sending vectors");
  device_->finish();
  return rows.cast<double>();
}

void CudaPanels::draw(double size, Random& random, const Panel& panel) {
  cuda::draw(size, random.next(), panel.use() != Use::search, view(panel), device_->stream());
}

void CudaPanels::gram(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out) {
  if (out.size() == 0) return;
  Eigen::Index row = 0;
  while (!a.empty()) {
    const PanelList some = a.first(std::min<std::size_t>(a.size(), ViewList::kMost));
    a = a.subspan(some.size());
    const ViewList list = views(some);
    const Index tall = list.columns();
    const Index step = std::max(1, kMostTiles / (tall / kGramTile + 1)) * kGramTile;
    for (Index k = 0; k < b.columns(); k += step) {
      const Panel part = b.middle(k, std::min(step, b.columns() - k));
      const auto wide = part.columns();
      const GramShape shape = gram_shape(part.rows(), tall, wide);
      const Report to = device_->report(static_cast<std::size_t>(tall) * static_cast<std::size_t>(wide), shape.parts(),
                                        shape.counters());
      cuda::gram(list, views(PanelList(&part, 1)), to, device_->stream());
      out.block(row, k, tall, wide) = Eigen::Map<const Eigen::MatrixXd>(device_->wait(), tall, wide);
    }
    row += tall;
  }
}

void CudaPanels::combine(double keep, PanelList in, const SmallMatrix& small, const Panel& out) {
  if (out.columns() == 0 || out.rows() == 0) return;
  const cudaStream_t stream = device_->stream();
  if (in.size() == 1 && out.columns() > kCombineColumns && is_diagonal(small)) {
    const Eigen::VectorXd diagonal = small.diagonal();
    const DeviceArray<double> factors(*device_, diagonal.data(), static_cast<std::size_t>(diagonal.size()));
    return combine_diagonal(keep, view(in.front()), factors.data(), view(out), stream);
  }
  const SmallRows rows = small;
  Eigen::Index row = 0;
  while (!in.empty()) {
    const PanelList some = in.first(std::min<std::size_t>(in.size(), ViewList::kMost));
    in = in.subspan(some.size());
    ViewList list = views(some);
    Panel copied;  // a wide panel that takes the place of itself
    if (out.columns() > kCombineColumns && list.count == 1 && some.front().data() == out.data()) {
      copied = copy(some.front());
      list.view[0] = view(copied);
    }
    const double* numbers = rows.data() + row * rows.cols();
    const auto count = static_cast<std::size_t>(list.columns()) * static_cast<std::size_t>(out.columns());
    Small travels{};
    if (count <= Small::kMost) {
      std::copy_n(numbers, count, travels.value);
      cuda::combine(keep, list, travels, nullptr, view(out), stream);
    } else {
      const DeviceArray<double> there(*device_, numbers, count);
      cuda::combine(keep, list, travels, there.data(), view(out), stream);
    }
    keep = 1;
    row += list.columns();
  }
}

bool CudaPanels::takes_out(PanelList basis, const Panel& block) {
  return basis.size() <= ViewList::kMost && (block.columns() == 1 || block.columns() == kCombineColumns);
}

void CudaPanels::take_out(PanelList basis, const Panel& block, Eigen::Ref<Eigen::MatrixXd> projection,
                          Eigen::Ref<Eigen::MatrixXd> square) {
  if (!takes_out(basis, block)) return Panels::take_out(basis, block, projection, square);
  const ViewList list = views(basis);
  const Index tall = list.columns();
  const Index wide = block.columns();
  const auto size = static_cast<std::size_t>(tall) * static_cast<std::size_t>(wide);
  if (small_.size() < size) small_ = {*device_, std::max<std::size_t>(size, 1024)};
  const ViewList one = views(PanelList(&block, 1));
  const GramShape shape = gram_shape(block.rows(), tall, wide);
  cuda::gram(list, one, device_->local_report(small_.data(), shape.parts(), shape.counters()), device_->stream());
  const Report first = device_->report(size, 0, 0);  // a place in the box, which comes with the other
  const Report second = device_->report(static_cast<std::size_t>(wide) * static_cast<std::size_t>(wide),
                                        take_out_parts(block.rows(), wide), 1, size);
  cuda::take_out(list, small_.data(), first.out, view(block), second, device_->stream());
  const double* box = device_->wait();
  projection = Eigen::Map<const Eigen::MatrixXd>(box, tall, wide);
  square = Eigen::Map<const Eigen::MatrixXd>(box + size, wide, wide);
}

void CudaPanels::grams(PanelList a, Eigen::Ref<Eigen::MatrixXd> of_a, PanelList b, Eigen::Ref<Eigen::MatrixXd> of_b) {
  const bool alike = of_a.cols() == of_b.cols() && a.size() <= ViewList::kMost && b.size() <= ViewList::kMost;
  if (!alike) return Panels::grams(a, of_a, b, of_b);
  const ViewList left = views(a);
  const ViewList right = views(b);
  const auto count = static_cast<std::size_t>(left.columns());
  const Offset rows = std::max(a.front().rows(), b.front().rows());
  const GramShape shape = gram_shape(rows, left.columns(), left.columns()).twice();
  cuda::grams(left, right, device_->report(2 * count * count, shape.parts(), shape.counters()), device_->stream());
  const double* box = device_->wait();
  of_a = Eigen::Map<const Eigen::MatrixXd>(box, of_a.rows(), of_a.cols());
  of_b = Eigen::Map<const Eigen::MatrixXd>(box + of_a.size(), of_b.rows(), of_b.cols());
}

void CudaPanels::scale_rows(const Panel& panel, const Panel& factors) {
  if (panel.columns() > 0) cuda::scale_rows(view(panel), view(factors), device_->stream());
}

bool CudaPanels::decompose(Panel& left, Eigen::VectorXd& values, Panel& right) {
  lapack::Svd svd{download(left), values, download(right)};
  if (!values.allFinite() || !svd.left.allFinite() || !svd.right.allFinite()) return false;
  lapack::decompose_product(svd, execution_);
  values = svd.values;
  const auto terms = static_cast<Index>(values.size());
  left = left.middle(0, terms);
  right = right.middle(0, terms);
  upload(svd.left, left);
  upload(svd.right, right);
  device_->finish();
  return true;
}

}  // namespace tracenorm::cuda
