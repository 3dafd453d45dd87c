#include "cpu/held_out.hpp"

#include <cmath>
#include <utility>

#include "cpu/panels.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::cpu {

namespace {

/// They are followed, and sampled, in blocks of this many.
constexpr Offset kBlock = 32768;
constexpr Offset kSampleBlock = 65536;

}  // namespace

void CpuHeldOut::watch(const Entries& entries) {
  entries_ = &entries;
  x_.assign(entries.row.size(), Real(0));
  parts_.resize((x_.size() + kBlock - 1) / kBlock);
}

void CpuHeldOut::exchange(Exchange state) {
  std::vector<Real> x = x_;
  state.entries("x", x);
  if (x.size() != x_.size()) {
    throw Error(ErrorCode::input, "the checkpoint has no X for every held-out entry; it is damaged");
  }
  x_ = std::move(x);
}

void CpuHeldOut::load(const FactorView& x, const Execution& execution) {
  if (entries_ == nullptr) return;
  // Row-major copies make one entry's factors contiguous.
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const RowMajor left = columns(x.left) * x.values.asDiagonal();
  const RowMajor right = columns(x.right);
  execution.for_each_block(entries_->size(), kSampleBlock, [&](Offset first, Offset count) {
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + count); ++e) {
      x_[e] = Real(left.row(entries_->row[e]).dot(right.row(entries_->col[e])));
    }
  });
}

void CpuHeldOut::aim(const Product& target, const Execution& execution) {
  if (entries_ == nullptr) return;
  target_.resize(x_.size());
  const Rows left = rows(target.left);
  const Rows right = rows(target.right);
  execution.for_each_block(entries_->size(), kSampleBlock, [&](Offset first, Offset count) {
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + count); ++e) {
      target_[e] = left.row(entries_->row[e]).dot(right.row(entries_->col[e]));
    }
  });
}

void CpuHeldOut::aim_without(const Product& term, double scale) {
  if (entries_ == nullptr) return;
  target_.resize(x_.size());
  const double* left = doubles(term.left);
  const double* right = doubles(term.right);
  for (std::size_t e = 0; e < x_.size(); ++e) {
    target_[e] = Real(scale) * (x_[e] - Real(left[entries_->row[e]] * right[entries_->col[e]]));
  }
}

void CpuHeldOut::move(const Product& atom, double t, const Execution& execution) {
  if (entries_ == nullptr) return;
  const double* left = doubles(atom.left);
  const double* right = doubles(atom.right);
  execution.for_each_block(entries_->size(), kBlock, [&](Offset first, Offset count) {
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + count); ++e) {
      const double target = left[entries_->row[e]] * right[entries_->col[e]];
      x_[e] += Real(t) * (Real(target) - x_[e]);
    }
  });
}

void CpuHeldOut::move(double t) {
  if (entries_ == nullptr) return;
  if (t >= 1) return x_.swap(target_);
  for (std::size_t e = 0; e < x_.size(); ++e) x_[e] += Real(t) * (target_[e] - x_[e]);
}

HeldOutSums CpuHeldOut::sums(const Loss& loss, const Execution& execution) const {
  std::visit(
      [&](const auto& chosen) {
        execution.for_each_block(static_cast<Offset>(x_.size()), kBlock, [&](Offset first, Offset count) {
          HeldOutSums& part = parts_[static_cast<std::size_t>(first / kBlock)];
          part = {};
          for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + count); ++e) {
            const double x = double(x_[e]);
            const double y = double(entries_->value[e]);
            part += {(x - y) * (x - y), std::abs(x - y), double(chosen.value(x, y))};
          }
        });
      },
      loss);
  HeldOutSums sum;
  for (const HeldOutSums& part : parts_) sum += part;
  return sum;
}

}  // namespace tracenorm::cpu
