// Passes over the rows of a matrix, several at once, with sums that do not depend on the number of threads.
#pragma once

#include <vector>

#include "base/execution.hpp"
#include "linalg/lapack.hpp"
#include "tracenorm/observations.hpp"
#include "verify/factored_entries.hpp"

namespace tracenorm::rigorous {

inline constexpr Index kRowBlock = 64;

/// Whether whole rows of entries cost less than one entry at a time.
inline bool is_dense(const SparsePattern& pattern) {
  return 8.0 * static_cast<double>(pattern.entries()) >
         static_cast<double>(pattern.rows()) * static_cast<double>(pattern.cols());
}

/// work(row, the computed entries of x in this row or null, sum) for every row; a sum per block of rows, in order.
template <class Sum, class Work>
std::vector<Sum> over_row_blocks(const Execution& execution, const FactoredEntries& x, bool whole_rows,
                                 const Work& work) {
  const Index rows = x.row_count();
  const auto cols = static_cast<std::size_t>(x.col_count());
  std::vector<Sum> sums(static_cast<std::size_t>((Offset{rows} + kRowBlock - 1) / kRowBlock));
  const lapack::OneThread blas;
  execution.for_each_block(rows, kRowBlock, [&](Offset first, Offset count) {
    std::vector<double> block(whole_rows ? static_cast<std::size_t>(count) * cols : 0);
    if (whole_rows) x.rows(static_cast<Index>(first), static_cast<Index>(first + count), block.data());
    Sum& sum = sums[static_cast<std::size_t>(first / kRowBlock)];
    for (Offset k = 0; k < count; ++k) {
      const double* row = whole_rows ? block.data() + static_cast<std::size_t>(k) * cols : nullptr;
      work(static_cast<Index>(first + k), row, sum);
    }
  });
  return sums;
}

}  // namespace tracenorm::rigorous
