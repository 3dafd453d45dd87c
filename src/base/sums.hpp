// What passes over entries learn: sums that can be added shard by shard, wherever the entries are.
#pragma once

namespace tracenorm {

struct EntrySums {
  double objective = 0;
  double inner = 0;         // sum of slope * x (of the loss slope alone where a penalty acts off the pattern)
  double conjugate = 0;     // sum of the conjugate of the entry's whole function at its slope
  double square_x = 0;      // sum of x^2 (where a penalty acts off the pattern only)
  double square_slope = 0;  // sum of the stored slope squared
  double rounding = 0;      // what a sum that must not be too small may be too small by, where that is known
  EntrySums& operator+=(const EntrySums& other) {
    objective += other.objective;
    inner += other.inner;
    conjugate += other.conjugate;
    square_x += other.square_x;
    square_slope += other.square_slope;
    rounding += other.rounding;
    return *this;
  }
  /// As if every entry had been met twice: exact.
  EntrySums& twice() { return *this += *this; }
};

/// How many points of a segment one pass evaluates.
inline constexpr int kSegmentPoints = 8;

struct SegmentSums {
  double value[kSegmentPoints] = {};
  double derivative[kSegmentPoints] = {};
  double square[kSegmentPoints] = {};  // of x(t), where a penalty acts off the pattern only
  double square_derivative[kSegmentPoints] = {};
  SegmentSums& operator+=(const SegmentSums& other) {
    for (int p = 0; p < kSegmentPoints; ++p) {
      value[p] += other.value[p];
      derivative[p] += other.derivative[p];
      square[p] += other.square[p];
      square_derivative[p] += other.square_derivative[p];
    }
    return *this;
  }
  SegmentSums& twice() { return *this += *this; }
};

/// Over held-out entries.
struct HeldOutSums {
  double square = 0;
  double absolute = 0;
  double loss = 0;
  HeldOutSums& operator+=(const HeldOutSums& other) {
    square += other.square;
    absolute += other.absolute;
    loss += other.loss;
    return *this;
  }
};

}  // namespace tracenorm
