#include "cuda/panels.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tracenorm::cuda {

namespace {

using RowMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using SmallRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A Gram matrix is made of at most this many tiles at a time.
constexpr Index kMostTiles = 4096;

/// Columns whose part outside of others has less than this share of their square depend on them.
constexpr double kDependent = 1e3 * std::numeric_limits<Real>::epsilon();

ViewList views(PanelList panels) {
  ViewList list{};
  for (const Panel& panel : panels) list.view[list.count++] = view(panel);
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
      cuda::gram(list, view(part), to, device_->stream());
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
  gram_there(list, block, small_);
  const Report first = device_->report(size, 0, 0);  // a place in the box, which comes with the other
  const Report second = device_->report(static_cast<std::size_t>(wide) * static_cast<std::size_t>(wide),
                                        take_out_parts(block.rows(), wide), 1, size);
  cuda::take_out(list, small_.data(), first.out, view(block), second, device_->stream());
  const double* box = device_->wait();
  projection = Eigen::Map<const Eigen::MatrixXd>(box, tall, wide);
  square = Eigen::Map<const Eigen::MatrixXd>(box + size, wide, wide);
}

void CudaPanels::gram_there(const ViewList& a, const Panel& b, DeviceArray<double>& out) {
  const auto size = static_cast<std::size_t>(a.columns()) * static_cast<std::size_t>(b.columns());
  if (out.size() < size) out = {*device_, std::max<std::size_t>(size, 1024)};
  const GramShape shape = gram_shape(b.rows(), a.columns(), b.columns());
  cuda::gram(a, view(b), device_->local_report(out.data(), shape.parts(), shape.counters()), device_->stream());
}

bool CudaPanels::orthonormalize(const Panel& block) {
  if (block.columns() > kGramTile || block.use() != Use::search) return false;
  gram_there(views(PanelList(&block, 1)), block, square_);
  cuda::orthonormalize(square_.data(), kDependent, {}, 0, view(block), view(block), device_->stream());
  return true;
}

bool CudaPanels::advance(PanelList basis, const Panel& block, const Panel* next) {
  if (!takes_out(basis, block) || block.use() != Use::search) return false;
  const ViewList list = views(basis);
  const auto size = static_cast<std::size_t>(list.columns()) * static_cast<std::size_t>(block.columns());
  const std::size_t behind = std::exchange(learnt_, learnt_ + size);
  const cudaStream_t stream = device_->stream();
  if (next == nullptr) {
    const GramShape shape = gram_shape(block.rows(), list.columns(), block.columns());
    cuda::gram(list, view(block), device_->report(size, shape.parts(), shape.counters(), behind), stream);
    return true;
  }
  gram_there(list, block, small_);
  const auto outputs = static_cast<std::size_t>(block.columns()) * static_cast<std::size_t>(block.columns());
  if (square_.size() < outputs) square_ = {*device_, outputs};
  cuda::take_out(list, small_.data(), device_->report(size, 0, 0, behind).out, view(block),
                 device_->local_report(square_.data(), take_out_parts(block.rows(), block.columns())), stream);
  constexpr double rounding = 100 * std::numeric_limits<Real>::epsilon();  // as BlockKrylov
  cuda::orthonormalize(square_.data(), kDependent, {small_.data(), list.columns()}, rounding, view(block), view(*next),
                       stream);
  return true;
}

std::span<const double> CudaPanels::learnt() { return {device_->wait(), std::exchange(learnt_, 0)}; }

std::pair<double, double> CudaPanels::squares(const Panel& a, const Panel& b) {
  std::size_t behind = 0;
  for (const Panel* one : {&a, &b}) {
    const GramShape shape = gram_shape(one->rows(), 1, 1);
    const Report to = device_->report(1, shape.parts(), shape.counters(), behind++);
    cuda::gram(views(PanelList(one, 1)), view(*one), to, device_->stream());
  }
  const double* box = device_->wait();
  return {box[0], box[1]};
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
