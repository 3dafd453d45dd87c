#include "fit/memory_need.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/memory.hpp"
#include "fit/split.hpp"

namespace tracenorm {

namespace {

/// Of one entry in the lists of a caller: row, column, value.
constexpr double kListed = 2 * sizeof(Index) + sizeof(Real);

/// Arrays of one number an entry while a problem is solved, in the words of Real: datum, iterate, slope, average slope.
constexpr double kSolving = 4 * sizeof(Real);
/// And beside them while settings are searched for: the datum in raw units and in those of offsets before X.
constexpr double kSearching = 2 * sizeof(Real);

/// The first factors of `corrective` have so many columns; a number of them is kept in points, gradients and remembered
/// steps of the descent, bases, and copies of X. Where the rank grows it is more: this is what a run needs at least.
constexpr double kFirstColumns = 48;
constexpr double kBytesPerNumber = 54;
/// Vectors that the search for the leading pair keeps, for the methods that add one term at a time.
constexpr double kBytesPerRow = 8 * 4 * sizeof(Real) + 16 * sizeof(double);

}  // namespace

double bytes_needed(Index rows, Index cols, Offset entries, bool weighted, const FitOptions& options, bool on_share) {
  const auto count = static_cast<double>(entries);
  const bool narrow = cols <= std::numeric_limits<ShortIndex>::max() + 1;
  const double column = narrow ? 2 * sizeof(ShortIndex) : sizeof(Index);  // narrow ones are kept in two orders
  double entry = kSolving + column + (weighted ? sizeof(Real) : 0);
  double freed = kListed + (weighted ? sizeof(Real) : 0);
  if (options.chooses_radius()) {
    // Of large data a share is searched on, and the answer does not need the raw data.
    entry += on_share ? kSearching / 2 : kSearching + 2 * kChoosingShare * kListed;
  }
  const double sides = static_cast<double>(rows) + static_cast<double>(cols);
  const bool corrective = options.method && std::holds_alternative<methods::Corrective>(*options.method);
  const double factor = corrective ? kFirstColumns * kBytesPerNumber : kBytesPerRow;
  // While entries are sorted into rows, both are there.
  const double sorting = sizeof(Real) + column / (narrow ? 2 : 1);
  return std::max(count * (entry - freed) + sides * factor, count * sorting);
}

void require_memory(const FitData& data, const FitOptions& options, double available) {
  const double needed = bytes_needed(data.rows, data.cols, data.entries.size(), !data.weight.empty(), options,
                                     searches_share(data, options));
  require_memory(needed, available,
                 fmt::format("for {} entries of a {} x {} matrix{}", data.entries.size(), data.rows, data.cols,
                             data.dealt ? " on this rank" : ""));
}

}  // namespace tracenorm
