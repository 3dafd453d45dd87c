// A pattern dealt out to blocks of threads, one for each processor of a device, so that what a block meets of a vector
// fits the memory that its threads share: looking a number up there takes a fifth of the time of the first cache, and
// that is what a sparse pass waits for. Rows or columns too many for that are met band by band.
#pragma once

#include "cuda/entries.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::cuda {

inline constexpr int kShareThreads = 1024;
/// What a warp takes at a time of its piece; the rest of its threads are idle at the end of one.
inline constexpr int kRoundEntries = 32;

/// A block's pieces, and what they meet.
struct Share {
  Index first;  ///< piece
  Index last;   ///< one behind
  Index from;   ///< of a vector
  Index length;
};

/// `count` is zero where a pattern is not dealt out: it has too few entries for each piece of a vector.
struct Shares {
  const Share* share = nullptr;
  int count = 0;
  Index longest = 0;  ///< of their lengths
  Numbers met;
  bool local = false;          ///< `met` counts from the band's beginning
  const Index* own = nullptr;  ///< the row (or column) of a piece
};

}  // namespace tracenorm::cuda
