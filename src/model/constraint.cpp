#include "tracenorm/constraint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

std::vector<double> weights(const std::vector<Offset>& counts, Offset all, const NormWeights& rule) {
  const double mean = static_cast<double>(all) / static_cast<double>(counts.size());
  std::vector<double> weight(counts.size());
  std::transform(counts.begin(), counts.end(), weight.begin(), [&](Offset count) {
    return std::pow((1 - rule.smoothing) * static_cast<double>(count) / mean + rule.smoothing, rule.power);
  });
  return weight;
}

}  // namespace

std::string_view to_string(Symmetry symmetry) {
  if (symmetry == Symmetry::semidefinite) return "psd";
  return symmetry == Symmetry::symmetric ? "symmetric" : "none";
}

Symmetry parse_symmetry(std::string_view text) {
  for (const Symmetry known : {Symmetry::none, Symmetry::symmetric, Symmetry::semidefinite}) {
    if (text == to_string(known)) return known;
  }
  throw Error(ErrorCode::usage, fmt::format("symmetry: unknown word '{}'; there are: none, symmetric, psd", text),
              "symmetry");
}

TraceNormBall weighted_ball(double radius, const NormWeights& rule, const Observations& observations, int threads) {
  if (!(rule.power >= 0 && rule.power <= 1)) {
    throw Error(ErrorCode::usage, fmt::format("norm weights: power = {}; it must be from 0 to 1", rule.power));
  }
  if (!(rule.smoothing > 0 && rule.smoothing <= 1)) {
    throw Error(ErrorCode::usage,
                fmt::format("norm weights: smoothing = {}; it must be above 0 and at most 1", rule.smoothing));
  }
  if (rule.power == 0) return {radius};
  const Counts counts = count_observed(observations, threads);
  const Offset all = observed(observations);
  return {radius, weights(counts.row, all, rule), weights(counts.col, all, rule)};
}

}  // namespace tracenorm
