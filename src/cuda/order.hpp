// Entries on the device in one order: by rows or by columns of a pattern, as full rows, or held-out ones.
#pragma once

#include <memory>
#include <optional>

#include "base/execution.hpp"
#include "cuda/device.hpp"
#include "cuda/entries.hpp"
#include "cuda/products.hpp"
#include "cuda/shares.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm::cuda {

struct Order {
  Offset count = 0;      ///< of numbers in an array, what stands between rows included
  std::size_t size = 0;  ///< the same, rounded up for kernels that take four at a time

  DeviceArray<std::uint8_t> row;  ///< in 16 or 32 bits; empty for full rows
  DeviceArray<std::uint8_t> col;
  bool narrow_row = false;
  bool narrow_col = false;
  Index cols = 0;   ///< of a full matrix,
  Index pitch = 0;  ///< whose rows are so long here

  DeviceArray<Real> y;  ///< or coded
  DeviceArray<std::int8_t> code;
  Real code_offset = 0;
  Real code_scale = 1;
  DeviceArray<Real> w;

  DeviceArray<Offset> piece_start;  ///< of a pattern; see SparseRows
  DeviceArray<Index> piece_first;
  Index pieces = 0;
  Index rows = 0;
  Index bands = 1;
  int lanes = 1;
  DeviceArray<Share> shares;  ///< empty where the pattern is not dealt out
  Index longest_share = 0;
  DeviceArray<Index> piece_own;
  DeviceArray<std::uint8_t>
      local;                ///< what entries meet, from their band's beginning; empty where that is short anyway
  bool transposed = false;  ///< pieces are of columns, and products meet rows

  DeviceArray<Real> x;
  DeviceArray<Real> slope;
  DeviceArray<std::uint16_t> rough;  ///< slopes of full rows in bfloat16, while a search wants no more
  DeviceArray<Real> average;
  DeviceArray<Real> average_x;  ///< beside it with a penalty off the pattern
  DeviceArray<Real> dual;       ///< with such a penalty: the dual point, and less 2 lambda X
  DeviceArray<Real> dual_rest;
  DeviceArray<Real> target;
  DeviceArray<Real> trial_x;  ///< of a gradient elsewhere
  DeviceArray<Real> trial_slope;
  DeviceArray<Real> loss_shift;
  DeviceArray<Real> penalty_shift;

  [[nodiscard]] EntryArrays arrays() const;
  [[nodiscard]] SparseRows sparse(const Real* m) const;
  [[nodiscard]] Shares dealt() const;
  [[nodiscard]] FullRows full(const Real* m) const { return {m, rows, cols, pitch}; }
};

/// The rows of a pattern, and its columns, which are made of them on the device.
Order order_by_rows(Device& device, const SparseObservations& data, const Execution& execution);
Order order_by_columns(Device& device, const Order& by_rows, Index rows, Index cols);
Order full_order(Device& device, const DenseObservations& data, const Execution& execution);
Order listed_order(Device& device, const Entries& entries);

}  // namespace tracenorm::cuda
