// Targets of a CUDA store: at the entries, along the way to them, and moving there.
#include <algorithm>
#include <cassert>

#include "cuda/panels.hpp"
#include "cuda/passes.hpp"
#include "cuda/rough.hpp"

namespace tracenorm::cuda {

void CudaStore::take_atom(const Product& atom) {
  narrow(view(atom.left), atom_left_.data(), view(atom.right), atom_right_.data(), stream());
}

void CudaStore::aim(const Product& target) {
  atom_aimed_ = target.left.use() == Use::exact;
  if (atom_aimed_) return take_atom(target);
  for_all_orders([&](Order& order) {
    Real* to = room(*device_, order.target, order.size);
    cuda::load(order.arrays(), reals(target.left), reals(target.right), target.left.columns(), 1, to, stream());
  });
}

EntrySums CudaStore::aim_without(const Product& term, double scale, std::optional<double> width) {
  atom_aimed_ = false;
  if (width) make_slopes();
  take_atom(term);
  const Atom atom{atom_left_.data(), atom_right_.data()};
  for_all_orders([&](Order& order) { room(*device_, order.target, order.size); });
  const double* at_width = width ? &*width : nullptr;
  if (held_out_) cuda::aim_without(function(), held_out_->arrays(), atom, scale, at_width, nullptr, stream());
  const double* sums = sum(kAimSums, [&](const Order& order, const Report* report) {
    cuda::aim_without(function(), order.arrays(), atom, scale, at_width, report, stream());
  });
  EntrySums result;
  result.objective = sums[0];
  result.inner = sums[1];
  result.square_x = off_pattern() ? sums[2] : 0.0;
  return result;
}

SegmentSums CudaStore::segment(std::span<const double> t, std::optional<double> width) {
  assert(!t.empty() && t.size() <= kSegmentPoints);
  SegmentTimes times{};
  for (std::size_t p = 0; p < kSegmentPoints; ++p) times.t[p] = Real(t[std::min(p, t.size() - 1)]);
  const Atom atom = atom_aimed_ ? Atom{atom_left_.data(), atom_right_.data()} : Atom{};
  const double* sums = sum(kSegmentSums, [&](const Order& order, const Report* report) {
    if (report == nullptr) return;
    cuda::segment(function(), order.arrays(), atom, times, width ? &*width : nullptr, *report, stream());
  });
  SegmentSums result;
  std::copy_n(sums, kSegmentPoints, result.value);
  std::copy_n(sums + kSegmentPoints, kSegmentPoints, result.derivative);
  std::copy_n(sums + 2 * kSegmentPoints, kSegmentPoints, result.square);
  std::copy_n(sums + 3 * kSegmentPoints, kSegmentPoints, result.square_derivative);
  return result;
}

double CudaStore::move(double t) {
  const Atom atom = atom_aimed_ ? Atom{atom_left_.data(), atom_right_.data()} : Atom{};
  // With an l1 penalty every entry has a kink (at zero); otherwise only observed ones can, as all of a pattern are.
  const bool all = !full() || mode_ == kernels::Mode::masked_l1;
  if (held_out_) cuda::move(held_out_->arrays(), atom, t, true, nullptr, stream());
  return *sum(1, [&](const Order& order, const Report* report) {
    if (atom_aimed_ && !order.shares.empty()) {
      const AtomAlongPieces along =
          order.transposed ? AtomAlongPieces{atom.right, atom.left} : AtomAlongPieces{atom.left, atom.right};
      return cuda::move(order.sparse(nullptr), order.dealt(), along, order.x.data(), t, report, stream());
    }
    cuda::move(order.arrays(), atom, t, all, report, stream());
  });
}

}  // namespace tracenorm::cuda
