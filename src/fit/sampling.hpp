// X at many places, in the precision of the data and on all threads.
#pragma once

#include <span>
#include <vector>

#include "base/execution.hpp"
#include "tracenorm/low_rank_matrix.hpp"

namespace tracenorm {

/// sum_t value_t left_it right_jt at the entries of data (those here), in their order; `values` in place of those of x.
void sample(const LowRankMatrix& x, const std::vector<double>& values, const SparseObservations& data,
            const Execution& execution, std::vector<Real>& out);

/// The same at listed places, for several lists of values at once: out[k] belongs to values[k].
void sample(const LowRankMatrix& x, std::span<const std::vector<double>> values, const Entries& places,
            const Execution& execution, std::span<std::vector<Real>> out);

}  // namespace tracenorm
