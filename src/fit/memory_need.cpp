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

/// Arrays of one number an entry while a problem is solved, in the words of Real: datum, iterate, slope (a target takes
/// its memory); averages of slopes are for the methods that add one term at a time.
constexpr double kSolving = 3 * sizeof(Real);
constexpr double kAverage = sizeof(Real);
/// And beside them while settings are searched for: the datum in raw units, which may take no more than a byte, and in
/// those of offsets before X.
constexpr double kRaw = 1;
constexpr double kOffsetsBefore = sizeof(Real);

/// The first factors of `corrective` have so many columns; a number of them is kept in two points, two gradients and a
/// step of the descent, in X, and in the best X of a search. Where the rank grows it is more: this is what a run needs
/// at least.
constexpr double kFirstColumns = 48;
constexpr double kBytesPerNumber = 6 * sizeof(Real) + sizeof(double);
/// Vectors that the search for the leading pair keeps, for the methods that add one term at a time.
constexpr double kBytesPerRow = 8 * 4 * sizeof(Real) + 16 * sizeof(double);

}  // namespace

double bytes_needed(Index rows, Index cols, Offset entries, bool weighted, const FitOptions& options, bool on_share) {
  const auto count = static_cast<double>(entries);
  const bool narrow = cols <= std::numeric_limits<ShortIndex>::max() + 1;
  const double column = narrow ? 2 * sizeof(ShortIndex) : sizeof(Index);  // narrow ones are kept in two orders
  const bool corrective = options.method && std::holds_alternative<methods::Corrective>(*options.method);
  double entry = kSolving + (corrective ? 0 : kAverage) + column + (weighted ? sizeof(Real) : 0);
  double freed = kListed + (weighted ? sizeof(Real) : 0);
  if (options.chooses_radius()) {
    // Of large data a share is searched on, and few are held out.
    entry += on_share ? kRaw : kRaw + kOffsetsBefore + 2 * kChoosingShare * kListed;
  }
  const double sides = static_cast<double>(rows) + static_cast<double>(cols);
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
