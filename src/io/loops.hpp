// Loops of several readers, on all threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/execution.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::io {

/// Some of the numbers 0..size-1 leave something behind, in their order: count(first, last) says how much those of a
/// block leave, room(all) makes room for it, and put(first, last, at) puts it there from place `at` on.
template <class Count, class Room, class Put>
void put_in_order(std::size_t size, const Execution& execution, const Count& count, const Room& room, const Put& put) {
  constexpr std::size_t block = std::size_t{1} << 16U;
  std::vector<std::size_t> place(size / block + 2);
  const auto for_blocks = [&](const auto& work) {
    execution.for_each_block(static_cast<Offset>(size), block, [&](Offset from, Offset some) {
      const auto first = static_cast<std::size_t>(from);
      work(first, first + static_cast<std::size_t>(some), place[first / block]);
    });
  };
  for_blocks([&](std::size_t first, std::size_t last, std::size_t& at) { at = count(first, last); });
  std::size_t all = 0;
  for (std::size_t& at : place) at = std::exchange(all, all + at);
  room(all);
  for_blocks([&](std::size_t first, std::size_t last, std::size_t at) { put(first, last, at); });
}

/// A matrix by rows. place(row, col) says where in `stored` an element is; that of the next row is its neighbour there,
/// so it goes by tiles, of which both sides fit into the first cache.
template <class Place>
std::vector<Real> by_rows(const std::vector<Real>& stored, std::size_t rows, std::size_t cols,
                          const Execution& execution, const Place& place) {
  constexpr std::size_t tile = 32;
  std::vector<Real> value(rows * cols);
  execution.for_each_block(static_cast<Offset>(rows), tile, [&](Offset from, Offset some) {
    const auto first = static_cast<std::size_t>(from);
    const auto last = first + static_cast<std::size_t>(some);
    for (std::size_t left = 0; left < cols; left += tile) {
      const std::size_t right = std::min(cols, left + tile);
      for (std::size_t row = first; row < last; ++row)
        for (std::size_t col = left; col < right; ++col) value[row * cols + col] = stored[place(row, col)];
    }
  });
  return value;
}

}  // namespace tracenorm::io
