// An affine change of units fitted on training data, stored in the model and undone at prediction.
#pragma once

#include <string>
#include <string_view>

#include "tracenorm/observations.hpp"

namespace tracenorm {

struct Preparation {
  enum class Kind { none, center, zscore };
  Kind kind = Kind::none;
  double offset = 0.0;  ///< prepared = (raw - offset) / scale
  double scale = 1.0;

  [[nodiscard]] double apply(double raw) const { return (raw - offset) / scale; }
  [[nodiscard]] double undo(double prepared) const { return prepared * scale + offset; }
};

Preparation::Kind parse_preparation(std::string_view text);
std::string to_string(Preparation::Kind kind);

/// Mean and standard deviation (n - 1) of the values. Z-scores of data that are all equal are an input error.
Preparation fit_preparation(Preparation::Kind kind, const std::vector<Real>& values);

void prepare(const Preparation& preparation, std::vector<Real>& values);

}  // namespace tracenorm
