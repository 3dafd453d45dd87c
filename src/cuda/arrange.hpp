// Entries put in order on the device, as functions that the host calls. Everything is put on a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/device.hpp"
#include "cuda/entries.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::cuda {

/// Where an entry is among the others.
using Place = std::uint32_t;

/// The row of every entry, from where rows begin.
template <class Number>
void list_rows(const Offset* begin, Index rows, Number* row, cudaStream_t stream);

/// Numbers that fit 16 bits, in 16 bits.
void shorten(const Index* from, std::size_t count, ShortIndex* to, cudaStream_t stream);

/// What is left of numbers that are divided by so much, at most 2^16.
void remainders(const Index* from, std::size_t count, Index divisor, ShortIndex* to, cudaStream_t stream);

/// Entries by rows, to be put by columns: those of the first `band` rows column by column, then those of the next.
struct Unsorted {
  Numbers row;
  Numbers col;
  Offset count;
  Index cols;
  Index band;
  Index bands;
};

/// Rows stay in order within a column of a band.
struct ByColumns {
  DeviceArray<Place> place;   ///< of every entry by columns, among those by rows
  DeviceArray<Offset> begin;  ///< of every column of every band, and the end
};
ByColumns sort_by_columns(Device& device, const Unsorted& entries);

/// to[k] = from[place[k]]; what stands behind the last entry stays there.
template <class T>
void gather(const T* from, const Place* place, std::size_t count, std::size_t size, T* to, cudaStream_t stream);

}  // namespace tracenorm::cuda
