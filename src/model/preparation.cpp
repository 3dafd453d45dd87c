#include "tracenorm/preparation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tracenorm/error.hpp"

namespace tracenorm {

Preparation::Kind parse_preparation(std::string_view text) {
  if (text == "none") return Preparation::Kind::none;
  if (text == "center") return Preparation::Kind::center;
  if (text == "zscore") return Preparation::Kind::zscore;
  throw Error(ErrorCode::usage, fmt::format("unknown preparation '{}'; there are: none, center, zscore", text));
}

std::string to_string(Preparation::Kind kind) {
  switch (kind) {
    case Preparation::Kind::none:
      return "none";
    case Preparation::Kind::center:
      return "center";
    case Preparation::Kind::zscore:
      return "zscore";
  }
  return "none";
}

Preparation fit_preparation(Preparation::Kind kind, const std::vector<Real>& values) {
  Preparation preparation{kind, 0.0, 1.0};
  if (kind == Preparation::Kind::none) return preparation;
  double sum = 0;
  double count = 0;
  for (const Real y : values) {
    if (std::isnan(y)) continue;  // a hole of a full matrix
    sum += double(y);
    ++count;
  }
  if (count == 0) throw Error(ErrorCode::input, "there are no values to fit a preparation to");
  preparation.offset = sum / count;
  if (kind == Preparation::Kind::center) return preparation;
  double squares = 0;
  for (const Real y : values) {
    if (!std::isnan(y)) squares += (double(y) - preparation.offset) * (double(y) - preparation.offset);
  }
  preparation.scale = count > 1 ? std::sqrt(squares / (count - 1)) : 0.0;
  if (!(preparation.scale > 1e-7 * std::abs(preparation.offset)) || preparation.scale == 0.0) {
    throw Error(ErrorCode::input,
                fmt::format("all {} values equal {}: z-scores need values that differ; use --prepare center or none",
                            count, preparation.offset));
  }
  return preparation;
}

void prepare(const Preparation& preparation, std::vector<Real>& values) {
  if (preparation.kind == Preparation::Kind::none) return;
  for (Real& y : values) y = Real(preparation.apply(double(y)));
}

}  // namespace tracenorm
