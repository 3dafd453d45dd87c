// A CUDA store's part in certificates: objectives in double, averages of slopes, sums of conjugates, Gram matrices.
#include <algorithm>
#include <limits>

#include "cuda/block_products.hpp"
#include "cuda/panels.hpp"
#include "cuda/passes.hpp"

namespace tracenorm::cuda {

namespace {

/// Values and conjugates are a few operations each, and the tree that adds up the sums of threads is about thirty
/// additions deep: what comes of it is off by less than this, relative to the terms.
constexpr double kRounding = 128 * std::numeric_limits<double>::epsilon();

}  // namespace

void CudaStore::add_errors(const FactorView& x, HeldRows& rows) const {
  const auto terms = static_cast<std::size_t>(x.values.size());
  const Eigen::VectorXd root = x.values.cwiseAbs().cwiseSqrt();
  const DeviceArray<double> factors(*device_, root.data(), terms);
  const auto lengths = [&](const Panel& panel, double factor) {
    const auto count = static_cast<std::size_t>(panel.rows());
    const DeviceArray<double> scaled(*device_, count * terms);
    DeviceArray<double> error(*device_, count);
    gather_rows(view(panel), factors.data(), scaled.data(), stream());
    row_lengths(scaled.data(), panel.rows(), rows.columns, factor, error.data(), stream());
    return error;
  };
  // As cpu::ExactFactors: a dot product of n terms is off by n units of the product of two lengths.
  const double unit = std::numeric_limits<double>::epsilon();
  rows.left_error = lengths(x.left, (static_cast<double>(terms) + 4) * unit);
  rows.right_error = lengths(x.right, 1);
}

EntrySums CudaStore::objective(const FactorView& x) const {
  HeldRows at = rows_of(x);
  add_errors(x, at);
  const double* sums = sum(kValueSums, [&](const Order& order, const Report* report) {
    if (report != nullptr) values(function(), order.arrays(), at.rows(), *report, stream());
  });
  EntrySums result;
  result.objective = sums[3] > 0 ? std::numeric_limits<double>::quiet_NaN() : sums[0];
  result.square_x = sums[1];
  result.rounding = kRounding * sums[2];
  // Near the smallest numbers rounding is no longer relative.
  if (sums[2] > 0) result.rounding += static_cast<double>(facts_.entries) * std::numeric_limits<double>::min();
  return result;
}

void CudaStore::average(double t) {
  make_slopes();
  for (Order& order : orders_) {
    const auto follow = [&](DeviceArray<Real>& mean, const DeviceArray<Real>& now) {
      if (!mean.empty()) return blend(mean.data(), now.data(), order.count, t, stream());
      mean = {*device_, order.size};
      blend(mean.data(), now.data(), order.count, 1, stream());
    };
    follow(order.average, order.slope);
    // With a penalty off the pattern the slopes are stored less 2 lambda x; the x of then is averaged beside them.
    if (off_pattern()) follow(order.average_x, order.x);
  }
}

EntrySums CudaStore::conjugates(Slopes which, const FactorView* x) {
  if (off_pattern() && which != Slopes::zero) return conjugates_off_pattern(which, *x);
  if (which != Slopes::zero) dual_of_ = which;
  if (which == Slopes::current) {
    make_slopes();
    rough_slopes_ = false;
  }
  const double* sums = sum(kConjugateSums, [&](const Order& order, const Report* report) {
    if (which == Slopes::zero && report == nullptr) return;
    Real* slope = which == Slopes::zero      ? nullptr
                  : which == Slopes::average ? order.average.data()
                                             : order.slope.data();
    cuda::conjugates(function(), order.arrays(), slope, report, stream());
  });
  EntrySums result;
  result.conjugate = sums[0];
  result.square_slope = sums[1];
  result.rounding = kRounding * sums[2];
  return result;
}

EntrySums CudaStore::conjugates_off_pattern(Slopes which, const FactorView& x) {
  // Stored are slopes less 2 lambda x, of the x of then; the loss's own are those that have conjugates.
  const HeldRows at = rows_of(x);
  for (Order& order : orders_) {
    room(*device_, order.dual, order.size);
    room(*device_, order.dual_rest, order.size);
    const bool mean = which == Slopes::average;
    dual_of((mean ? order.average : order.slope).data(), (mean ? order.average_x : order.x).data(), 2 * lambda_,
            order.dual.data(), order.count, stream());
  }
  const double* sums = sum(kConjugateSums, [&](const Order& order, const Report* report) {
    cuda::conjugates(function(), order.arrays(), order.dual.data(), report, stream());
  });
  EntrySums result;
  result.conjugate = sums[0];
  result.rounding = kRounding * sums[2];
  sums = sum(kRestSums, [&](const Order& order, const Report* report) {
    cuda::dual_rest(order.arrays(), at.rows(), 2 * lambda_, order.dual.data(), order.dual_rest.data(), report,
                    stream());
  });
  result.square_x = sums[0];
  result.square_slope = sums[1];
  return result;
}

std::vector<Real> CudaStore::dual_slopes() const {
  const Order& order = orders_.front();
  const Real* from = off_pattern() ? order.dual.data() : kept_slopes(order, Slopes::dual).data();
  std::vector<Real> all(static_cast<std::size_t>(order.count));
  device_->download(from, all.size() * sizeof(Real), all.data());
  if (!full()) return all;
  const auto pitch = static_cast<std::size_t>(order.pitch);
  const auto cols = static_cast<std::size_t>(order.cols);
  for (std::size_t i = 1; i < static_cast<std::size_t>(order.rows); ++i) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(i * pitch), cols,
                all.begin() + static_cast<std::ptrdiff_t>(i * cols));
  }
  all.resize(static_cast<std::size_t>(order.rows) * cols);
  return all;
}

Eigen::MatrixXd CudaStore::gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) {
  const bool of_rows = side == Side::left;
  const Index length = of_rows ? facts_.rows : facts_.cols;
  const DeviceArray<double> there(*device_, static_cast<std::size_t>(length) * static_cast<std::size_t>(length));
  const double* left = doubles(row_factor);
  const double* right = doubles(col_factor);
  const Order& by_rows = orders_.front();
  const Order& by_columns = orders_.back();
  if (full()) {
    cuda::gram(by_rows.full(slopes(by_rows, which)), of_rows, left, right, there.data(), stream());
  } else {
    const SparseRows rows = by_rows.sparse(slopes(by_rows, which));
    const SparseRows columns = by_columns.sparse(slopes(by_columns, which));
    cuda::gram(of_rows ? rows : columns, of_rows ? columns : rows, of_rows ? left : right, of_rows ? right : left,
               there.data(), stream());
  }
  Eigen::MatrixXd out(length, length);
  device_->download(there.data(), there.size() * sizeof(double), out.data());
  return out;
}

}  // namespace tracenorm::cuda
