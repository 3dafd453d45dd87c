// What a score is worth: the share of positives among held-out pairs that score like it.
#pragma once

#include <vector>

#include "fit/judge.hpp"

namespace tracenorm {

/// Shares that rise with the score and are nearest to the labels in squares (isotonic regression, by pooling adjacent
/// violators).
class Calibration {
 public:
  /// `sorted` as area_under_curve leaves it: scores ascending.
  explicit Calibration(const std::vector<Scored>& sorted);
  /// The share at this score; below the least score of all it is that of the least. NaN of nothing.
  [[nodiscard]] double operator()(double score) const;

 private:
  struct Pool {
    double from;  ///< the least score in it
    double positives;
    double count;
    [[nodiscard]] double share() const { return positives / count; }
  };
  std::vector<Pool> pools_;
};

}  // namespace tracenorm
