// Which rows of a model are whose: blocks of equally many, dealt to the ranks in turn.
#pragma once

#include <algorithm>

#include "tracenorm/types.hpp"

namespace tracenorm {

struct RowBlocks {
  int rank = 0;
  int ranks = 1;
  Index block = 0;  ///< rows of one; 0: so many that each rank has one
  Index rows = 0;   ///< of all ranks, once `settle` was told

  void settle(Index all) {
    rows = all;
    if (block == 0) block = static_cast<Index>((Offset{all} + ranks - 1) / ranks);
    block = std::max<Index>(block, 1);
  }
  [[nodiscard]] int owner(Index row) const { return static_cast<int>(row / block % ranks); }
  [[nodiscard]] bool has(Index row) const { return owner(row) == rank; }
  /// The number that a row has where it is,
  [[nodiscard]] Index here(Index row) const {
    return static_cast<Index>(row / (Offset{block} * ranks) * block + row % block);
  }
  /// and the row that has this number on this rank.
  [[nodiscard]] Index whole(Index here) const {
    return static_cast<Index>((Offset{here} / block * ranks + rank) * block + here % block);
  }
  /// How many of the rows before this one are on this rank.
  [[nodiscard]] Index before(Index row) const {
    const Offset round = Offset{block} * ranks;
    const Offset over = Offset{row} % round - Offset{rank} * block;
    return static_cast<Index>(Offset{row} / round * block + std::clamp<Offset>(over, 0, block));
  }
  [[nodiscard]] Index count() const { return before(rows); }
};

}  // namespace tracenorm
