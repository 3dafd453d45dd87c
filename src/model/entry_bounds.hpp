// The functions of entries, weight * loss + penalty, in double and with bounds of their own rounding: what is reported
// of an answer and what is proved of the optimum. The kernels of the iterations are faster and less exact.
#pragma once

#include "base/sums.hpp"
#include "kernels/kernels.hpp"
#include "tracenorm/loss.hpp"

namespace tracenorm {

/// Some entries, one after the other: data (NaN: missing) or, where these are null, their codes, and weights or null.
struct EntryData {
  const Real* y;
  const Real* w;
  Offset count;
  kernels::CodedData coded{};
  [[nodiscard]] Real datum(Offset e) const { return y != nullptr ? y[e] : coded.at(e); }
};

class EntryBounds {
 public:
  EntryBounds(const Loss& loss, kernels::Mode mode, double lambda) : loss_(loss), mode_(mode), lambda_(lambda) {}

  /// `objective` and `square_x` of entries that are x up to `error`; the first may be too small by `rounding`. NaN
  /// where an x or its function is not finite.
  [[nodiscard]] EntrySums values(const EntryData& data, const double* x, const double* error) const;

  /// Moves slopes to the nearest ones that an entry's function has, which rounding may have left, and sums the
  /// conjugates of exactly these numbers: `conjugate`, `square_slope`, and `rounding`, which bounds what the first may
  /// be too small by. Infinite where a function has no such slope at all.
  [[nodiscard]] EntrySums conjugates(const EntryData& data, Real* slope) const;

 private:
  const Loss& loss_;
  kernels::Mode mode_;
  double lambda_;
};

}  // namespace tracenorm
