// How a kernel tells the host a few numbers: its blocks leave parts on the device, the last block that is done adds
// them up in the order of the blocks, and writes the sums and then a number into memory that the host is watching. No
// floating-point number is ever added in the order in which blocks happen to end, so the same bits come every time.
#pragma once

namespace tracenorm::cuda {

struct Report {
  double* part;              ///< on the device, one group of numbers a block
  unsigned* arrived;         ///< on the device: how many blocks are done; zero again afterwards
  double* out;               ///< on the host
  unsigned long long* flag;  ///< on the host; becomes `number` when `out` is there
  unsigned long long number;
};

}  // namespace tracenorm::cuda
